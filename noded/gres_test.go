package noded

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/api/pb"
	"muster/gres"
	"muster/internal/bitset"
)

// twoSockets is a machine of two sockets with a GPU and a card each.
const twoSockets = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n" +
	"GPU0\tX\tNV4\tPIX\tSYS\t64-127\t1\nGPU1\tNV4\tX\tSYS\tPIX\t0-63\t0\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n"

// declared makes the inventory of a node that declares two GPUs and a description.
func declared(t *testing.T, description string) (*inventory, error) {
	t.Helper()
	dir := t.TempDir()
	topo, declare := filepath.Join(dir, "topo"), filepath.Join(dir, "declare.json")
	text := `{"sockets":2,"cores_per_socket":4,"threads":2,"memory_mb":1000,"tmp_disk":10,"topology":"` + topo + `","gres":[{"name":"gpu","type":"a100","count":2},{"name":"nvme","count":1}]}`
	for name, text := range map[string]string{topo: description, declare: text} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return takeInventory(declare, dir)
}

func TestDescriptionOfDevices(t *testing.T) {
	v, err := declared(t, twoSockets)
	if err != nil {
		t.Fatal(err)
	}
	m := v.message()
	if len(m.Devices) != 3 || len(m.Nics) != 2 || len(m.Links) != 16 {
		t.Fatalf("message %v", m)
	}
	// GPU 0 is in the second NUMA domain, so near the second half of the cores.
	for i, want := range [][]uint32{{4, 5, 6, 7}, {0, 1, 2, 3}, nil} {
		if !slices.Equal(m.Devices[i].Cores, want) {
			t.Errorf("%s %d is near %v, want %v", m.Devices[i].Name, m.Devices[i].Index, m.Devices[i].Cores, want)
		}
	}
	if m.Nics[1].Name != "mlx5_1" || m.Nics[1].Role != uint32(gres.Fabric) || m.Links[1] != uint32(gres.LinkOf(gres.NV, 4)) {
		t.Errorf("cards %v, links %v", m.Nics, m.Links)
	}
	if got := v.nicsNear(bitset.Of(1)); !slices.Equal(got, []string{"mlx5_1"}) {
		t.Errorf("cards near GPU 1: %v", got)
	}
}

func TestDescriptionOfOtherDevicesIsPassedOver(t *testing.T) {
	v, err := declared(t, "\tGPU0\nGPU0\tX\t0-3\t0\n")
	if err != nil {
		t.Fatal(err)
	}
	if m := v.message(); len(m.Nics)+len(m.Links) != 0 || m.Devices[0].Cores != nil {
		t.Errorf("one GPU described, two declared: %v", m)
	}
	if _, err := declared(t, "nonsense"); err == nil || !strings.Contains(err.Error(), "topo") {
		t.Errorf("a description that cannot be read: %v", err)
	}
}

func TestCoresOfTheMachineItself(t *testing.T) {
	v := &inventory{Devices: []device{{Name: "gpu"}}, Cores: [][]int{{0, 2}, {1, 3}, {4}}}
	m, err := describedBy(write(t, "\tGPU0\nGPU0\tX\t2-3\t0\n"))
	if err != nil {
		t.Fatal(err)
	}
	v.describe(m)
	if got := v.Devices[0].Cores.Slice(); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("near cores %v, want 0 and 1", got)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLearnsWhatTheClusterFileDeclares(t *testing.T) {
	found := &inventory{Devices: []device{{Name: "gpu", Index: 0, File: "/dev/nvidia0", UUID: "GPU-1"}}}
	got := found.learn(&pb.Welcome{NicVariables: []string{"NCCL_IB_HCA"}, Devices: []*pb.Device{
		{Name: "gpu", Type: "a100", Index: 0, File: "/dev/other", Visible: "V"}, {Name: "tpu", Index: 0, File: "/dev/accel0"}}})
	want := []device{{Name: "gpu", Type: "a100", File: "/dev/nvidia0", UUID: "GPU-1", Visible: "V"}, {Name: "tpu", File: "/dev/accel0"}}
	if !slices.Equal(got.Devices, want) || got.Open {
		t.Errorf("%+v, want %+v", got, want)
	}
	if len(found.Devices) != 1 || found.Devices[0].Type != "" {
		t.Errorf("the inventory that launches read has changed: %+v", found)
	}
	deny := got.denied([]*pb.PartDevice{{Name: "gpu", Count: 1, Index: []uint32{0}}})
	if !slices.Equal(deny, []string{"/dev/accel0"}) {
		t.Errorf("a job with the GPU may not open %v", deny)
	}
	if open := got.learn(&pb.Welcome{OpenDevices: true}); open.denied(nil) != nil {
		t.Errorf("devices are open, but a job may not open %v", open.denied(nil))
	}
}
