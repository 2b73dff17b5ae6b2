package slurm

import (
	"strings"
	"testing"
)

// TestDeviceCounts: counts of devices that do not go together are refused with
// Slurm's text; those that do make each other.
func TestDeviceCounts(t *testing.T) {
	const last = "; Invalid generic resource (gres) specification"
	for _, test := range []struct{ options, want string }{
		{"--mem-per-gpu=100", "REJECTED: Requested mem_per_tres=gres/gpu:100 but did not request any GPU." + last},
		{"--cpus-per-gpu=2", "REJECTED: Requested cpus_per_tres=gres/gpu:2 but did not request any GPU." + last},
		{"--gpus-per-socket=1", "REJECTED: --gpus-per-socket option requires --sockets-per-node specification" + last},
		{"--ntasks-per-gpu=2", "REJECTED: gres_job_state_validate: --ntasks-per-tres needs either a GRES GPU specification or a node/ntask specification" + last},
		{"--gpus-per-task=1 -N2", "REJECTED: Failed to validate job spec. --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed." + last},
		{"--gpus=1 --gpus-per-node=2", "REJECTED: Failed to ensure --gpus >= --gres=gpu/--gpus-per-node >= --gpus-per-socket" + last},
		{"--gpus=3 --gpus-per-node=2", "REJECTED: Failed to validate job spec, --gpus is not multiple of --gres=gpu/--gpus-per-node" + last},
		{"--gpus=1 -N2", "REJECTED: Failed to validate job spec, --gpus < -N" + last},
		{"--gpus=2 -n3 --ntasks-per-gpu=2", "REJECTED: Failed to validate job spec, -n/--ntasks has to be a multiple of --ntasks-per-gpu." + last},
		{"--gpus=2 --ntasks-per-gpu=3", "Tasks=6"},
		{"-n4 --ntasks-per-gpu=2", "Tasks=4"},
		{"--gpus=4 --gpus-per-task=2", "Tasks=2"},
		{"--gpus-per-task=2 -N1", "Tasks=1 Nodes=1-1"},
		{"-N1-2 --ntasks-per-gpu=4", "REJECTED: gres_job_state_validate: --ntasks-per-tres needs either a GRES GPU specification or a node/ntask specification" + last},
		{"--ntasks-per-gpu=4 --tasks-per-node=4", "REJECTED: --ntasks-per-node is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU"},
		{"-N2 --cores-per-socket=2", "Tasks=4 Nodes=2-2"},
		{"-N1-2 --cores-per-socket=2", "Nodes=1-2"},
		{"-B 1:8 --ntasks-per-node=2", "TasksPerNode=2"},
		{"--gpus-per-task=0", ""},
		{"--mem-per-gpu=0", ""},
	} {
		got := describe(readJob(t, "#!/bin/sh\n#SBATCH "+test.options+"\n"))
		if strings.HasPrefix(test.want, "REJECTED") && got != test.want || test.want != "" && !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "REJECTED") {
			t.Errorf("%s:\ngot  %s\nwant %s", test.options, got, test.want)
		}
	}
}

// TestGPUBind: the words of --gpu-bind.
func TestGPUBind(t *testing.T) {
	for text, good := range map[string]bool{
		"closest": true, "none": true, "single:1": true, "verbose,closest": true, "map_gpu:0,1": true, "per_task:1": true, "CLOSEST": true,
		"": false, "bogus": false, "single": false, "quiet": false, "closest:1": false,
	} {
		o := NewOptions(&Input{Program: Sbatch})
		if err := setGPUBind(o, text); (err == nil) != good || good && o.Job.Gres.Bind != text {
			t.Errorf("%q: %v, kept %q", text, err, o.Job.Gres.Bind)
		}
	}
}
