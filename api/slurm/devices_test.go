package slurm

import (
	"slices"
	"testing"
)

func TestVisibleDevices(t *testing.T) {
	gpu := func(index int, file string, given bool) Device {
		return Device{Name: "gpu", Index: index, File: file, Given: given, Variables: "CUDA_VISIBLE_DEVICES"}
	}
	mig := func(id string) Device {
		return Device{Name: "gpu", Type: "1g.10gb", UUID: id, Given: true, Variables: "CUDA_VISIBLE_DEVICES"}
	}
	cases := []struct {
		name        string
		open        []Device
		constrained bool
		want        []string
	}{
		{"the node's numbers", []Device{gpu(4, "/dev/nvidia4", true), gpu(6, "/dev/nvidia6", true)}, false, []string{"CUDA_VISIBLE_DEVICES=4,6"}},
		{"from 0 where no others can be opened", []Device{gpu(4, "/dev/nvidia4", true), gpu(6, "/dev/nvidia6", true)}, true, []string{"CUDA_VISIBLE_DEVICES=0,1"}},
		{"a task's, of the job's", []Device{gpu(4, "/dev/nvidia4", false), gpu(6, "/dev/nvidia6", true)}, true, []string{"CUDA_VISIBLE_DEVICES=1"}},
		{"in the order of files, not of numbers", []Device{gpu(0, "/dev/nvidia10", true), gpu(1, "/dev/nvidia9", false)}, true, []string{"CUDA_VISIBLE_DEVICES=1"}},
		{"none given", []Device{gpu(0, "/dev/nvidia0", false)}, true, nil},
		{"slices by id", []Device{mig("MIG-b"), mig("MIG-a")}, true, []string{"CUDA_VISIBLE_DEVICES=MIG-b,MIG-a"}},
		{"whole GPUs by number although they have ids", []Device{{Name: "gpu", UUID: "GPU-1", Given: true, Variables: "CUDA_VISIBLE_DEVICES"}}, false, []string{"CUDA_VISIBLE_DEVICES=0"}},
		{"all variables of GPUs", []Device{{Name: "gpu", Index: 2, Given: true}}, false,
			[]string{"CUDA_VISIBLE_DEVICES=2", "ROCR_VISIBLE_DEVICES=2", "GPU_DEVICE_ORDINAL=2", "ZE_AFFINITY_MASK=2"}},
		{"of other makers", []Device{{Name: "gpu", Type: "Ascend910", Given: true}, {Name: "mlu", Index: 1, Given: true}, {Name: "dcu", Index: 3, Given: true}}, false,
			[]string{"HIP_VISIBLE_DEVICES=3", "ASCEND_RT_VISIBLE_DEVICES=0", "MLU_VISIBLE_DEVICES=1"}},
		{"of the cluster file", []Device{{Name: "tpu", Index: 1, Given: true, Variables: "TPU_A,TPU_B"}}, true, []string{"TPU_A=0", "TPU_B=0"}},
		{"a kind without", []Device{{Name: "nvme", Given: true}}, false, nil},
		{"kinds are numbered apart", []Device{{Name: "gpu", Index: 5, Given: true, Variables: "X"}, {Name: "npu", Index: 5, Given: true}}, true,
			[]string{"X=0", "ASCEND_RT_VISIBLE_DEVICES=0"}},
	}
	for _, c := range cases {
		if got := VisibleDevices(c.open, c.constrained); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
