package topo

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

// sysTree makes files and links of a /sys.
func sysTree(files map[string]string, links map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	for name, to := range links {
		out[name] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink}
	}
	return out
}

func TestSysfs(t *testing.T) {
	files, links := map[string]string{}, map[string]string{}
	put := func(bus, above, class, vendor, numa, cpus string) {
		links["bus/pci/devices/"+bus] = "../../../devices/" + above + "/" + bus
		dir := "devices/" + above + "/" + bus
		files[dir+"/class"], files[dir+"/vendor"], files[dir+"/numa_node"], files[dir+"/local_cpulist"] = class, vendor, numa, cpus
	}
	put("0000:03:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0", "0x120000", "0x1002", "0", "0-3")
	put("0000:04:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0", "0x030200", "0x10de", "0", "0-3")
	put("0000:05:00.0", "pci0000:00/0000:00:02.0", "0x038000", "0x1002", "0", "0-3")
	put("0000:06:00.0", "pci0000:00/0000:00:02.0", "0x020700", "0x15b3", "0", "0-3")
	put("0000:07:00.0", "pci0000:00/0000:00:03.0", "0x020000", "0x8086", "0", "0-3")
	put("0000:08:00.0", "pci0000:00/0000:00:04.0", "0x020000", "0x8086", "0", "0-3") // no driver
	put("0000:81:00.0", "pci0000:80/0000:80:01.0", "0x030000", "0x10de", "1", "4-7")
	put("0000:82:00.0", "pci0000:80/0000:80:02.0", "0x030000", "0x1a03", "1", "4-7") // the board's own display
	files["devices/pci0000:00/0000:00:02.0/0000:06:00.0/infiniband/mlx5_0/x"] = ""
	files["devices/pci0000:00/0000:00:02.0/0000:06:00.0/net/ib0/x"] = ""
	files["devices/pci0000:00/0000:00:03.0/0000:07:00.0/net/eth0/x"] = ""
	files["devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/drm/card0/x"] = ""
	files["devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/drm/renderD128/x"] = ""
	kfd := "class/kfd/kfd/topology/nodes/"
	files[kfd+"0/properties"] = "cpu_cores_count 8\nlocation_id 0"
	files[kfd+"1/properties"] = "domain 0\nlocation_id 768" // 03:00.0
	files[kfd+"2/properties"] = "domain 0\nlocation_id 1280"
	files[kfd+"1/io_links/0/properties"] = "type 2\nnode_from 1\nnode_to 0"
	files[kfd+"1/io_links/1/properties"] = "type 11\nnode_from 1\nnode_to 2"
	m, err := Sysfs(sysTree(files, links))
	if err != nil {
		t.Fatal(err)
	}
	want := ` GPU0 GPU1 GPU2 GPU3 NIC0 NIC1 CPU Affinity NUMA Affinity
GPU0 X PIX XGMI1 SYS PHB PHB 0-3 0
GPU1 PIX X PHB SYS PHB PHB 0-3 0
GPU2 XGMI1 PHB X SYS PIX PHB 0-3 0
GPU3 SYS SYS SYS X SYS SYS 4-7 1
NIC0 PHB PHB PIX SYS X PHB
NIC1 PHB PHB PHB SYS PHB X`
	if got := cells(t, m); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	for i, want := range [][2]string{{"/dev/dri/renderD128", "ROCR_VISIBLE_DEVICES"}, {"/dev/nvidia0", "CUDA_VISIBLE_DEVICES"}, {"", "ROCR_VISIBLE_DEVICES"}, {"/dev/nvidia1", "CUDA_VISIBLE_DEVICES"}} {
		if d := &m.Devices[i]; d.File != want[0] || d.Visible != want[1] {
			t.Errorf("GPU %d is %q for %q, want %q for %q", i, d.File, d.Visible, want[0], want[1])
		}
	}
	if m.NICs[0].Name != "mlx5_0" || !m.NICs[0].RDMA || m.NICs[1].Name != "eth0" || m.NICs[1].RDMA {
		t.Errorf("cards %+v", m.NICs)
	}
}

func TestSysfsWithoutDevices(t *testing.T) {
	for name, sys := range map[string]fstest.MapFS{"no PCI": {}, "no cards": sysTree(map[string]string{"bus/pci/devices/0000:00:00.0/class": "0x060000"}, nil)} {
		if m, err := Sysfs(sys); m != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}
