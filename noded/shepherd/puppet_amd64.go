package shepherd

import "golang.org/x/sys/unix"

type registers = unix.PtraceRegsAmd64

// callKernel is the instruction syscall.
var callKernel = []byte{0x0f, 0x05}

func getRegisters(pid int, r *registers) error { return unix.PtraceGetRegsAmd64(pid, r) }
func setRegisters(pid int, r *registers) error { return unix.PtraceSetRegsAmd64(pid, r) }
func standsAt(r *registers) uintptr            { return uintptr(r.Rip) }
func stackOf(r *registers) uintptr             { return uintptr(r.Rsp) }
func result(r *registers) uint64               { return r.Rax }

// native: not a program of 32 bits, whose code segment is 0x23.
func native(r *registers) bool { return r.Cs == 0x33 }

func setCall(r *registers, number uint64, args []uint64) {
	r.Rax, r.Orig_rax = number, ^uint64(0) // -1: there is no call to be begun again
	for i, place := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10} {
		*place = args[i]
	}
}
