package topo

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"muster/gres"
	"muster/internal/bitset"
)

// machines are all descriptions at hand: those of testdata and, if MUSTER_TOPOLOGIES
// names a folder, all files below it.
func machines(t *testing.T) map[string]*Machine {
	t.Helper()
	out := map[string]*Machine{"nccl": read(t, nvswitch), "rccl": read(t, mesh), "hwloc": read(t, power)}
	dirs := []string{"testdata"}
	if more := os.Getenv("MUSTER_TOPOLOGIES"); more != "" {
		dirs = append(dirs, more)
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".xml") && !strings.HasSuffix(path, ".tsv") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if m, err := Read(text); err == nil {
				out[path] = m
			} else if dir == "testdata" || !strings.Contains(err.Error(), "PCI class") {
				t.Errorf("%s: %v", path, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func read(t *testing.T, text string) *Machine {
	t.Helper()
	m, err := Read([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// nvswitch is a machine with a switch for each two GPUs and a card, and NVSwitches.
const nvswitch = `<system version="1">
 <cpu numaid="0" affinity="0000ffff,00000000,0000ffff">
  <pci busid="ffff:ff:01.0" class="0x060400">
   <pci busid="0000:10:1c.0" class="0x030200"><gpu dev="1"><nvlink target="0000:c1:00.0" count="12" tclass="0x068000"/></gpu></pci>
   <pci busid="0000:10:1d.0" class="0x030200"><gpu dev="0"><nvlink target="0000:c1:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c2:00.0" count="6" tclass="0x068000"/></gpu></pci>
   <pci busid="0000:10:1b.0" class="0x020000"/>
  </pci>
 </cpu>
 <cpu numaid="1" affinity="ffff0000,00000000,ffff0000">
  <pci busid="0000:20:1c.0" class="0x030200"><gpu dev="2"><nvlink target="0000:c1:00.0" count="10" tclass="0x068000"/></gpu></pci>
  <pci busid="0000:20:1d.0" class="0x030200"><gpu dev="3"/></pci>
  <pci busid="0000:20:1e.0" class="0x010802"/>
 </cpu>
</system>`

// mesh is a machine of four GPUs with XGMI in a ring, a card behind one more bridge.
const mesh = `<!-- a comment --><system version="2"><cpu numaid="0" affinity="000000ff">
 <pci busid="0000:01:00.0" class="0x060400">
  <pci busid="0000:02:00.0" class="0x060400"><pci busid="0000:03:00.0" class="0x060400">
   <pci busid="0000:C1:00.0" class="0x038000"><gpu dev="0"><xgmi target="0000:c5:00.0" count="2" tclass="0x038000"/><xgmi target="0000:cd:00.0" count="1" tclass="0x038000"/></gpu></pci>
  </pci></pci>
  <pci busid="0000:08:00.0" class="0x020700"><nic><net name="mlx5_0" dev="0"/></nic></pci>
 </pci>
 <pci busid="0000:c5:00.0" class="0x120000"><gpu dev="1"><xgmi target="0000:c9:00.0" count="1" tclass="0x120000"/></gpu></pci>
 <pci busid="0000:c9:00.0" class="0x120000"><gpu dev="2"><xgmi target="0000:cd:00.0" count="2" tclass="0x120000"/></gpu></pci>
 <pci busid="0000:cd:00.0" class="0x120000"><gpu dev="3"/></pci>
</cpu></system>`

// power is hwloc's view of two sockets with two GPUs each, of which the second two
// hang on one host bridge, with an InfiniBand card beside.
const power = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" cpuset="0x0000000f,0x0000000f" nodeset="0x00000003" gp_index="1">
  <object type="Package" cpuset="0x0000000f" nodeset="0x00000001" gp_index="2">
   <object type="Bridge" gp_index="10" bridge_type="0-1"><object type="PCIDev" gp_index="11" pci_busid="0002:01:00.0" pci_type="0302 [10de:15f9]">
     <object type="OSDev" gp_index="12" name="nvml0"><info name="NVIDIAUUID" value="GPU-1"/></object></object></object>
   <object type="Bridge" gp_index="13" bridge_type="0-1"><object type="PCIDev" gp_index="14" pci_busid="0003:01:00.0" pci_type="0302 [10de:15f9]">
     <object type="OSDev" gp_index="15" name="nvml1"/></object></object>
   <object type="Bridge" gp_index="16" bridge_type="0-1"><object type="PCIDev" gp_index="17" pci_busid="0004:01:00.0" pci_type="0300 [1a03:2000]"/></object>
  </object>
  <object type="Package" cpuset="0x0000000f,0x0" nodeset="0x00000002" gp_index="3">
   <object type="Bridge" gp_index="20" bridge_type="0-1">
    <object type="PCIDev" gp_index="21" pci_busid="000a:01:00.0" pci_type="0300 [10de:15f9]"><object type="OSDev" gp_index="22" name="cuda2" subtype="CUDA"/></object>
    <object type="PCIDev" gp_index="23" pci_busid="000b:01:00.0" pci_type="0302 [10de:15f9]"><object type="OSDev" gp_index="24" name="nvml3"/></object>
    <object type="Bridge" gp_index="25" bridge_type="1-1"><object type="PCIDev" gp_index="26" pci_busid="000c:01:00.0" pci_type="0207 [15b3:1013]">
      <object type="OSDev" gp_index="27" name="ib0"/><object type="OSDev" gp_index="28" name="mlx5_0" subtype="OpenFabrics"/></object></object>
   </object>
  </object>
 </object>
 <distances2hetero nbobjs="3" kind="25" name="NVLinkBandwidth">
  <indexes length="9">OSDev:12 OSDev:15 Package:2 </indexes>
  <u64values length="9">1000000 40000 0 40000 </u64values><u64values length="9">1000000 0 0 0 1000000 </u64values>
 </distances2hetero>
</topology>`

// cells are the rows of a matrix as Write prints them, without the rest.
func cells(t *testing.T, m *Machine) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(b.String(), "\n\n")
	return strings.ReplaceAll(head, "\t", " ")
}

func TestReadsTrees(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"NCCL with NVSwitches", nvswitch, ` GPU0 GPU1 GPU2 GPU3 NIC0 CPU Affinity NUMA Affinity
GPU0 X NV12 NV10 SYS PIX 0-15,64-79 0
GPU1 NV12 X NV10 SYS PIX 0-15,64-79 0
GPU2 NV10 NV10 X PHB SYS 16-31,80-95 1
GPU3 SYS SYS PHB X SYS 16-31,80-95 1
NIC0 PIX PIX SYS SYS X`},
		{"RCCL with XGMI", mesh, ` GPU0 GPU1 GPU2 GPU3 NIC0 CPU Affinity NUMA Affinity
GPU0 X XGMI2 PHB XGMI1 PXB 0-7 0
GPU1 XGMI2 X XGMI1 PHB PHB 0-7 0
GPU2 PHB XGMI1 X XGMI2 PHB 0-7 0
GPU3 XGMI1 PHB XGMI2 X PHB 0-7 0
NIC0 PXB PHB PHB PHB X`},
		{"hwloc", power, ` GPU0 GPU1 GPU2 GPU3 NIC0 CPU Affinity NUMA Affinity
GPU0 X NV2 SYS SYS SYS 0-3 0
GPU1 NV2 X SYS SYS SYS 0-3 0
GPU2 SYS SYS X PHB PHB 32-35 1
GPU3 SYS SYS PHB X PHB 32-35 1
NIC0 SYS SYS PHB PHB X`},
	}
	for _, c := range cases {
		if got := cells(t, read(t, c.text)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if m := read(t, power); m.NICs[0].Name != "mlx5_0" || !m.NICs[0].RDMA || m.Devices[0].UUID != "GPU-1" {
		t.Errorf("hwloc: card %+v, GPU 0 %+v", m.NICs[0], m.Devices[0])
	}
}

// TestReadsWhatNvidiaSMIPrints has the escapes, the legend and the blanks of the
// program's own output.
func TestReadsWhatNvidiaSMIPrints(t *testing.T) {
	text := "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n" +
		"GPU0\t X \tNV12\tPXB\tSYS\t0-3,8-11\t0\t\tN/A\nGPU1\tNV12\t X \tSYS\tNODE\t4-7\t1\t\tN/A\n" +
		"NIC0\tPXB\tSYS\t X \tSYS\t\t\t\t\nNIC1\tSYS\tNODE\tSYS\t X \t\t\t\t\n\n" +
		"Legend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n  NV#  = Connection\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_bond_0\n"
	m := read(t, text)
	if m.NICs[0] != (gres.NIC{Name: "mlx5_0", Role: gres.Fabric, RDMA: true}) || m.NICs[1].Name != "mlx5_bond_0" || m.NICs[1].Role != gres.Storage {
		t.Errorf("cards %+v", m.NICs)
	}
	if m.NUMA[1] != 1 || !m.Devices[0].Cores.Has(9) || m.Devices[0].Cores.Has(4) {
		t.Errorf("GPU 0 is near %v, GPU 1 in domain %d", m.Devices[0].Cores.Slice(), m.NUMA[1])
	}
}

func TestRefusesWhatItCannotRead(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "another text": "hello", "a short row": "\tGPU0\tGPU1\nGPU0\tX\n", "no row": "\tGPU0\tGPU1\nGPU0\tX\tPIX\n",
		"no link": "\tGPU0\nGPU0\tfast\n", "no classes": `<system version="1"><cpu numaid="0"><pci busid="0000:00:16.0"/></cpu></system>`,
		"broken XML": `<system version="1"><cpu`, "no GPU": `<topology version="2.0"></topology>`, "broken hwloc": `<topology version="2.0"><object`,
	} {
		if m, err := Read([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", name, m)
		}
	}
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	for name, m := range machines(t) {
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		got := read(t, b.String())
		for i := range m.Devices {
			m.Devices[i].UUID, m.Devices[i].File, m.Devices[i].Visible = "", "", "" // not in a matrix
		}
		for i := range m.NICs {
			m.NICs[i].RDMA = true // only such are in a matrix
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%s: read back\n%+v\nwant\n%+v", name, got, m)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{nvswitch, mesh, power, "\tGPU0\tNIC0\tCPU Affinity\nGPU0\tX\tPIX\t0-3\t0\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Read(text)
		if err != nil {
			return
		}
		if n := len(m.Devices) + len(m.NICs); len(m.Links) != n*n || len(m.NUMA) != len(m.Devices) {
			t.Errorf("%d devices, %d cards, %d links", len(m.Devices), len(m.NICs), len(m.Links))
		}
	})
}

// rating is what a set of GPUs is worth, worked out from the matrix alone.
func rating(m *Machine, set, free []int) [3]int {
	n := len(m.Devices) + len(m.NICs)
	bandwidth := func(set []int) (weakest, sum int) {
		weakest = -1
		for x, i := range set {
			for _, k := range set[:x] {
				b := m.Links[i*n+k].Bandwidth()
				sum += b
				if weakest < 0 || b < weakest {
					weakest = b
				}
			}
		}
		return max(0, weakest), sum
	}
	weakest, sum := bandwidth(set)
	var rest []int
	for _, i := range free {
		if !has(set, i) {
			rest = append(rest, i)
		}
	}
	_, left := bandwidth(rest)
	// The cards stand before what is left; they are held equal here.
	return [3]int{weakest, sum, left}
}

func has(list []int, n int) bool {
	for _, x := range list {
		if x == n {
			return true
		}
	}
	return false
}

// TestNoSetOfARealMachineIsBetter holds the choice against every set of so many
// free GPUs, on all machines.
func TestNoSetOfARealMachineIsBetter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, m := range machines(t) {
		gpus := len(m.Devices)
		bare := m.Inventory
		bare.NICs = append([]gres.NIC(nil), m.NICs...)
		for i := range bare.NICs {
			bare.NICs[i].Role = gres.Control // no card is nearer than another
		}
		layout := bare.Kinds()[0].Layout
		for range 12 {
			var free []int
			for i := range gpus {
				if r.IntN(4) > 0 {
					free = append(free, i)
				}
			}
			if len(free) == 0 {
				continue
			}
			count := 1 + r.IntN(len(free))
			got := layout.Choose(&gres.Want{Free: bitset.Of(free...), Count: count}).Slice()
			best := rating(m, got, free)
			for mask := range 1 << len(free) {
				var set []int
				for b, i := range free {
					if mask>>b&1 == 1 {
						set = append(set, i)
					}
				}
				if len(set) != count {
					continue
				}
				if v := rating(m, set, free); less(best, v) {
					t.Fatalf("%s: %d of %v: %v is %v, but %v is %v", name, count, free, got, best, set, v)
				}
			}
		}
	}
}

func less(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
