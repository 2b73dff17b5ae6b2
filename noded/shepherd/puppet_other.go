//go:build !amd64 && !arm64

package shepherd

// registers: on these machines nobody has written down how a child calls the
// kernel, so native is always false and limits can't be set without
// CAP_SYS_RESOURCE. The job's standard error says so.
type registers struct{}

var callKernel []byte

func getRegisters(int, *registers) error   { return nil }
func setRegisters(int, *registers) error   { return nil }
func standsAt(*registers) uintptr          { return 0 }
func stackOf(*registers) uintptr           { return 0 }
func result(*registers) uint64             { return 0 }
func native(*registers) bool               { return false }
func setCall(*registers, uint64, []uint64) {}
