package shepherd

import "golang.org/x/sys/unix"

type registers = unix.PtraceRegsArm64

// ntPrstatus names the general registers (elf(5)).
const ntPrstatus = 1

// callKernel is the instruction svc #0.
var callKernel = []byte{0x01, 0x00, 0x00, 0xd4}

func getRegisters(pid int, r *registers) error { return unix.PtraceGetRegSetArm64(pid, ntPrstatus, r) }
func setRegisters(pid int, r *registers) error { return unix.PtraceSetRegSetArm64(pid, ntPrstatus, r) }
func standsAt(r *registers) uintptr            { return uintptr(r.Pc) }
func stackOf(r *registers) uintptr             { return uintptr(r.Sp) }
func result(r *registers) uint64               { return r.Regs[0] }

// native: not a program of 32 bits, which has bit 4 of its state set.
func native(r *registers) bool { return r.Pstate&0x10 == 0 }

func setCall(r *registers, number uint64, args []uint64) {
	r.Regs[8] = number
	copy(r.Regs[:], args)
}
