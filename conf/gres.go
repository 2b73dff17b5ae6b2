package conf

import (
	"strings"

	"muster/partition"
)

type gresTable struct {
	Constrain    bool              `toml:"constrain" default:"true" doc:"A job can open only the devices that it was given, and numbers such as CUDA_VISIBLE_DEVICES start at 0 in each job. With false all are open and the numbers are the node's (ConstrainDevices)."`
	OneType      bool              `toml:"one_type" default:"true" doc:"GPUs of one job are of one type, also when it names none. With false they may be mixed, as in Slurm."`
	NICVariables []string          `toml:"nic_variables" doc:"Variables that are set, in jobs with GPUs, to the network cards for RDMA nearest to them: NCCL_IB_HCA, UCX_NET_DEVICES. MUSTER_JOB_NICS always is."`
	Visible      map[string]string `toml:"visible" doc:"Variables that tell programs which devices of a kind they may use, separated by commas: { tpu = \"TPU_VISIBLE_CHIPS\" }. Those of GPUs, npu, mlu and dcu are known."`
}

// devices checks the table of generic resources.
func (b *builder) devices() partition.DevicePolicy {
	g := &b.schema.Gres
	for _, name := range g.NICVariables {
		b.checkVariable("gres.nic_variables", name)
	}
	for kind, list := range g.Visible {
		b.checkName("gres.visible", "device", kind)
		for name := range strings.SplitSeq(list, ",") {
			b.checkVariable("gres.visible", name)
		}
	}
	return partition.DevicePolicy{Open: !g.Constrain, MixTypes: !g.OneType, NICVariables: g.NICVariables}
}

// checkVariable refuses what is no name of a variable, and those that change how
// programs are started.
func (b *builder) checkVariable(path, name string) {
	ok := name != "" && len(name) <= 64 && (name[0] < '0' || name[0] > '9') && !strings.HasPrefix(name, "LD_") && name != "PATH"
	for _, c := range []byte(name) {
		ok = ok && (c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_')
	}
	if !ok {
		b.fail(path, "%s: want the name of an environment variable, such as CUDA_VISIBLE_DEVICES", kindOf(name))
	}
}
