package slurm

import (
	"slices"
	"strings"
	"testing"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
)

// batchJob is the array job of the samples: two nodes, four tasks, two GPUs a node.
func batchJob() *BatchJob {
	return &BatchJob{
		ID: 1, ArrayJob: 1, ArrayTask: 4, Bounds: job.ArrayBounds{Count: 2, Min: 3, Max: 4, Step: 1}, SLUID: "s2EHM8QDK31800",
		Cluster: "peer", Name: "envjob", Partition: "gpu", Account: "optics", QOS: "normal", User: "alice", UID: 1003, GID: 1003,
		Request: &job.Request{
			Size: job.Size{MinNodes: 2, MaxNodes: 2, Tasks: 4, CPUsPerTask: 2}, Memory: job.Memory{Per: job.MemoryPerNode, MB: 1024},
			Gres:  job.GresRequest{PerNode: gres.Spec{{Name: "gpu", Count: 2}}},
			Batch: job.Batch{SubmitDir: "/home/alice/work", SubmitHost: "ctl1"},
		},
		Nodes: []NodeTasks{{"n03", 6, 3}, {"n04", 2, 1}}, Node: "n03", CPUs: 6, MemoryMB: 1024,
		Devices: []DeviceIDs{{"gpu", 2, bitset.Of(0, 1)}}, Visible: VisibleDevices([]Device{{Name: "gpu", Given: true}, {Name: "gpu", Index: 1, Given: true}}, false),
		Start: 1796082344000, End: 1796082644000,
	}
}

// TestBatchEnv compares with the environment that real Slurm 26.05 gave the same
// job, without what is particular to its installation.
func TestBatchEnv(t *testing.T) {
	want := strings.Fields(`CUDA_VISIBLE_DEVICES=0,1 ENVIRONMENT=BATCH GPU_DEVICE_ORDINAL=0,1 HOSTNAME=n03 SLURMD_NODENAME=n03
SLURM_ARRAY_JOB_ID=1 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_MIN=3
SLURM_ARRAY_TASK_STEP=1 SLURM_CLUSTER_NAME=peer SLURM_CPUS_ON_NODE=6 SLURM_CPUS_PER_TASK=2 SLURM_GPUS_ON_NODE=2 SLURM_GTIDS=0
SLURM_JOBID=1 SLURM_JOB_ACCOUNT=optics SLURM_JOB_CPUS_PER_NODE=6,2 SLURM_JOB_END_TIME=1796082644 SLURM_JOB_EXCLUSIVE=NO
SLURM_JOB_GID=1003 SLURM_JOB_GPUS=0,1 SLURM_JOB_ID=1 SLURM_JOB_NAME=envjob SLURM_JOB_NODELIST=n[03-04] SLURM_JOB_NUM_NODES=2
SLURM_JOB_OVERSUBSCRIBE=NO SLURM_JOB_PARTITION=gpu SLURM_JOB_QOS=normal SLURM_JOB_SLUID=s2EHM8QDK31800
SLURM_JOB_START_TIME=1796082344 SLURM_JOB_UID=1003 SLURM_JOB_USER=alice SLURM_LOCALID=0 SLURM_MEM_PER_NODE=1024 SLURM_NNODES=2
SLURM_NODEID=0 SLURM_NODELIST=n[03-04] SLURM_NPROCS=4 SLURM_NTASKS=4 SLURM_OOM_KILL_STEP=0 SLURM_PRIO_PROCESS=0 SLURM_PROCID=0
SLURM_STEPID=-5 SLURM_STEP_ID=-5 SLURM_SUBMIT_DIR=/home/alice/work SLURM_SUBMIT_HOST=ctl1 SLURM_TASKS_PER_NODE=3,1
SLURM_TRES_PER_TASK=cpu=2 TMPDIR=/tmp`)
	ours := []string{"ROCR_VISIBLE_DEVICES=0,1", "ZE_AFFINITY_MASK=0,1", "SLURM_TOPOLOGY_ADDR=n03", "SLURM_TOPOLOGY_ADDR_PATTERN=node"}
	got := BatchEnv(batchJob(), nil)
	slices.Sort(got)
	want = append(want, ours...)
	slices.Sort(want)
	for _, v := range want {
		if !slices.Contains(got, v) {
			t.Errorf("missing %s", v)
		}
	}
	for _, v := range got {
		if !slices.Contains(want, v) {
			t.Errorf("too much: %s", v)
		}
	}
}

func TestBatchEnvOfSimpleJob(t *testing.T) {
	j := batchJob()
	j.ArrayJob, j.Devices, j.Visible, j.Restarts, j.End = 0, nil, nil, 2, 0
	j.Nodes, j.CPUs, j.MemoryMB = []NodeTasks{{"n1", 2, 0}}, 2, 200
	j.Request = &job.Request{Batch: job.Batch{Export: "NONE", GetUserEnv: true}}
	env := BatchEnv(j, []string{"A=1", "SLURM_JOB_ID=77", "TMPDIR=/scratch", "bad"})
	for _, v := range []string{
		"A=1", "SLURM_JOB_ID=1", "TMPDIR=/scratch", "SLURM_RESTART_COUNT=2", "SLURM_MEM_PER_CPU=100", "SLURM_TASKS_PER_NODE=1",
		"SLURM_JOB_CPUS_PER_NODE=2", "SLURM_EXPORT_ENV=NONE", "SLURM_GET_USER_ENV=1", "SLURM_JOB_END_TIME=1827618344",
	} {
		if !slices.Contains(env, v) {
			t.Errorf("missing %s", v)
		}
	}
	seen := make(map[string]bool)
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if seen[name] {
			t.Errorf("%s is set twice", name)
		}
		seen[name] = true
		for _, never := range []string{"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_CPUS_PER_TASK", "SLURM_ARRAY", "CUDA", "bad"} {
			if strings.HasPrefix(name, never) {
				t.Errorf("%s is set", v)
			}
		}
	}
}

func TestBatchEnvOfGPUFamily(t *testing.T) {
	j := batchJob()
	j.Request = &job.Request{Memory: job.Memory{Per: job.MemoryPerGPU, MB: 64}, Gres: job.GresRequest{
		PerJob: gres.Spec{{Name: "gpu", Count: 2}}, PerTask: gres.Spec{{Name: "gpu", Type: "a100", Count: 1}}, CPUsPerGPU: 2}}
	env := BatchEnv(j, nil)
	for _, v := range []string{"SLURM_GPUS=2", "SLURM_CPUS_PER_GPU=2", "SLURM_MEM_PER_GPU=64", "SLURM_GPUS_PER_TASK=a100:1", "SLURM_TRES_PER_TASK=gres/gpu:a100=1"} {
		if !slices.Contains(env, v) {
			t.Errorf("missing %s", v)
		}
	}
}

func TestCompressCounts(t *testing.T) {
	for want, counts := range map[string][]uint32{"": nil, "1": {1}, "2(x3),1": {2, 2, 2, 1}, "1,2,1": {1, 2, 1}, "72(x2)": {72, 72}} {
		if got := CompressCounts(counts); got != want {
			t.Errorf("%v: got %s, want %s", counts, got, want)
		}
	}
}

func TestBatchEnvOfHetJob(t *testing.T) {
	j := batchJob()
	j.Het = HetJob{Size: 2, Components: []HetComponent{
		{ID: 4, Name: "geo", Account: "optics", Partition: "main", QOS: "normal", Nodes: []NodeTasks{{"n04", 2, 2}}},
		{ID: 5, Name: "geo", Partition: "gpu", Nodes: []NodeTasks{{"n03", 1, 1}}},
	}}
	env := BatchEnv(j, nil)
	for _, v := range []string{
		"SLURM_HET_SIZE=2", "SLURM_JOB_ID_HET_GROUP_0=4", "SLURM_JOB_ID_PACK_GROUP_1=5", "SLURM_JOB_NODELIST_HET_GROUP_1=n03",
		"SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0=2", "SLURM_JOB_PARTITION_HET_GROUP_1=gpu", "SLURM_TASKS_PER_NODE_HET_GROUP_0=2",
	} {
		if !slices.Contains(env, v) {
			t.Errorf("missing %s", v)
		}
	}
}
