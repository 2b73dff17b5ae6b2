package cgroup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// On cgroup v2 there is no file for device rules: a program in the kernel is asked
// at each open of a device file. It is attached to the job's group and goes with
// it. The program is a plain list of comparisons, so it is put together here
// rather than by a library.

// device is a device file's kind and numbers.
type device struct {
	block        bool
	major, minor uint32
}

// deviceOf is the device that a file stands for; false for any other file.
func deviceOf(name string) (device, bool) {
	var st unix.Stat_t
	if unix.Stat(name, &st) != nil {
		return device{}, false
	}
	d := device{major: unix.Major(uint64(st.Rdev)), minor: unix.Minor(uint64(st.Rdev))}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFCHR:
		return d, true
	case unix.S_IFBLK:
		d.block = true
		return d, true
	}
	return device{}, false
}

// rule1 is the line that denies the device on cgroup v1.
func (d device) rule1() string {
	kind := "c"
	if d.block {
		kind = "b"
	}
	return fmt.Sprintf("%s %d:%d rwm", kind, d.major, d.minor)
}

// devices are those files of a list that are device files.
func devices(files []string) []device {
	var out []device
	for _, f := range files {
		if d, ok := deviceOf(f); ok {
			out = append(out, d)
		}
	}
	return out
}

// Instructions of the kernel's machine (linux/bpf.h) and the layout of what it is
// given, struct bpf_cgroup_dev_ctx: access and kind, major, minor, 32 bits each.
const (
	opLoad = unix.BPF_LDX | unix.BPF_MEM | unix.BPF_W   // dst = *(u32 *)(src + off)
	opAnd  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K   // dst &= value
	opJump = unix.BPF_JMP | unix.BPF_JNE | unix.BPF_K   // if dst != value, skip off instructions
	opSet  = unix.BPF_ALU64 | unix.BPF_MOV | unix.BPF_K // dst = value
	opExit = unix.BPF_JMP | unix.BPF_EXIT               // return r0: 1 allows, 0 denies
	kindOf = 0xffff                                     // the part of the first word that is the kind
	block  = unix.BPF_DEVCG_DEV_BLOCK
	char   = unix.BPF_DEVCG_DEV_CHAR
)

// program denies the devices of a list and allows all others.
func program(deny []device) []byte {
	var code []byte
	add := func(op uint8, dst, src uint8, skip int16, value uint32) {
		code = append(code, op, dst|src<<4)
		code = binary.NativeEndian.AppendUint16(code, uint16(skip))
		code = binary.NativeEndian.AppendUint32(code, value)
	}
	for i := range uint8(3) {
		add(opLoad, 2+i, 1, int16(4*i), 0) // r2 kind, r3 major, r4 minor
	}
	add(opAnd, 2, 0, 0, kindOf)
	for _, d := range deny {
		kind := uint32(char)
		if d.block {
			kind = block
		}
		add(opJump, 2, 0, 4, kind)
		add(opJump, 3, 0, 3, d.major)
		add(opJump, 4, 0, 2, d.minor)
		add(opSet, 0, 0, 0, 0)
		add(opExit, 0, 0, 0, 0)
	}
	add(opSet, 0, 0, 0, 1)
	add(opExit, 0, 0, 0, 0)
	return code
}

// loadAttr and attachAttr are the beginnings of union bpf_attr (bpf(2)) for
// BPF_PROG_LOAD and BPF_PROG_ATTACH.
type loadAttr struct {
	kind, instructions uint32
	code, licence      uint64
}

type attachAttr struct {
	target, program, kind, flags uint32
}

// load gives a program to the kernel and returns its descriptor.
func load(code []byte) (int, error) {
	licence := []byte("Apache-2.0\x00") // it calls no function of the kernel's
	attr := loadAttr{
		kind: unix.BPF_PROG_TYPE_CGROUP_DEVICE, instructions: uint32(len(code) / 8),
		code: uint64(uintptr(unsafe.Pointer(&code[0]))), licence: uint64(uintptr(unsafe.Pointer(&licence[0]))),
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_LOAD, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(code)
	runtime.KeepAlive(licence)
	if errno != 0 {
		return -1, fmt.Errorf("load the device rules into the kernel: %w", errno)
	}
	unix.CloseOnExec(int(fd))
	return int(fd), nil
}

// denyDevices keeps the processes of a v2 group from opening devices. Rules of
// groups above it hold as well.
func denyDevices(dir string, deny []device) error {
	prog, err := load(program(deny))
	if err != nil {
		return err
	}
	defer unix.Close(prog) // the group holds it from here on
	group, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("control group %s: %w", dir, err)
	}
	defer unix.Close(group)
	attr := attachAttr{target: uint32(group), program: uint32(prog), kind: unix.BPF_CGROUP_DEVICE, flags: unix.BPF_F_ALLOW_MULTI}
	if _, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_ATTACH, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)); errno != 0 {
		return fmt.Errorf("device rules of control group %s: %w", dir, errno)
	}
	return nil
}

// DeviceRules tells why devices can't be kept from jobs here; nil if they can.
func (t *Tree) DeviceRules() error { return t.noDevices }

// tryDevices finds that out.
func (t *Tree) tryDevices() error {
	if !t.pure {
		if t.v1["devices"] == "" {
			return errors.New("cgroup v1 without its devices controller")
		}
		return nil
	}
	fd, err := load(program(nil))
	if err != nil {
		return err
	}
	unix.Close(fd)
	return nil
}
