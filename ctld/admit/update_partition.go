package admit

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// updatePartition is scontrol create, update and delete PartitionName=:
// partition.update. Only administrators may. It holds until the cluster file is applied again.
func updatePartition(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.UpdateRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	names, fields := splitTarget(req.Pairs, "PartitionName")
	if !r.Administers(core.Root()) {
		return denied(textUpdate + slurm.TextInvalidUser)
	}
	if len(names) != 1 || len(fields) == 0 && req.Action == "update" {
		return invalid("No changes specified")
	}
	root, prefix := core.Root(), textUpdate
	cmd := &state.Partition{Create: req.Action == "create", Delete: req.Action == "delete"}
	p := root.Partition(names[0])
	switch {
	case cmd.Create:
		p, prefix = &partition.Partition{Name: names[0], State: partition.PartitionUp, PriorityTier: 1, JobFactor: 1, MinNodes: 1}, "Error creating the partition: "
		if !validName(names[0]) {
			return invalid(prefix + slurm.TextPartition)
		}
	case cmd.Delete:
		prefix = "delete_partition partition=" + names[0] + ": "
	}
	if p == nil {
		return &api.Error{Kind: api.ErrNotFound, Text: prefix + slurm.TextPartition}
	}
	value := *p
	for _, f := range fields {
		if f.Op != "" {
			return invalid("Option " + f.Name + " does not accept [+|-]= syntax")
		}
		if err := setPartitionField(root, &value, f); err != nil {
			return err
		}
	}
	cmd.Value = value
	result, err := propose(ctx, core, r, seal(core, r, cmd))
	if err != nil {
		return err
	}
	if result.Code != state.OK {
		return &api.Error{Kind: api.ErrState, Text: prefix + resultText(result.Code, result.Text)}
	}
	return send(r, &api.ChangeReply{})
}

// validName tells whether a text can be the name of a partition: what the cluster
// file takes.
func validName(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	})
}

// setPartitionField takes one field over.
func setPartitionField(root *state.Root, v *partition.Partition, f api.Pair) error {
	list := func(field *[]string) error {
		*field = strings.FieldsFunc(f.Value, func(r rune) bool { return r == ',' })
		if slices.ContainsFunc(*field, func(s string) bool { return strings.EqualFold(s, "ALL") }) {
			*field = nil
		}
		return nil
	}
	switch f.Name {
	case "State":
		return setPartitionState(v, f)
	case "MaxTime":
		return setPartitionTime(&v.MaxTime, f)
	case "DefaultTime":
		return setPartitionTime(&v.DefaultTime, f)
	case "MaxNodes":
		return setPartitionCount(&v.MaxNodes, f)
	case "MinNodes":
		return setPartitionCount(&v.MinNodes, f)
	case "MaxCPUsPerNode":
		return setPartitionCount(&v.MaxCPUsNode, f)
	case "PreemptMode":
		m, ok := partition.ParsePreemptMode(f.Value)
		if !ok {
			return badValue(f)
		}
		v.PreemptMode = m.String()
		return nil
	case "GraceTime":
		return setPartitionCount(&v.GraceTime, f)
	case "PriorityTier":
		return setPartitionPriority(&v.PriorityTier, f)
	case "PriorityJobFactor":
		return setPartitionPriority(&v.JobFactor, f)
	case "Hidden":
		return setYesNo(&v.Hidden, f)
	case "RootOnly":
		return setYesNo(&v.RootOnly, f)
	case "ReqResv":
		return setYesNo(&v.ReqResv, f)
	case "DisableRootJobs":
		return setYesNo(&v.DisableRoot, f)
	case "LLN":
		return setYesNo(&v.LLN, f)
	case "AllowAccounts":
		return list(&v.AllowAccounts)
	case "DenyAccounts":
		return list(&v.DenyAccounts)
	case "AllowGroups":
		return list(&v.AllowGroups)
	case "AllowQos":
		return list(&v.AllowQOS)
	case "DenyQos":
		return list(&v.DenyQOS)
	case "Nodes":
		return setPartitionNodes(root, v, f)
	case "Default":
		return setYesNo(&v.Default, f)
	case "OverSubscribe":
		return setPartitionSharing(v, f)
	case "Exclusive":
		return setPartitionExclusive(v, f)
	case "QOS":
		return setPartitionQOS(root, v, f)
	case "Alternate":
		return setPartitionAlternate(root, v, f)
	case "DefMemPerCPU":
		return setPartitionMemory(&v.DefMemory, job.MemoryPerCPU, f)
	case "DefMemPerNode":
		return setPartitionMemory(&v.DefMemory, job.MemoryPerNode, f)
	case "MaxMemPerCPU":
		return setPartitionMemory(&v.MaxMemory, job.MemoryPerCPU, f)
	case "MaxMemPerNode":
		return setPartitionMemory(&v.MaxMemory, job.MemoryPerNode, f)
	}
	return invalid("Update of this parameter is not supported: " + f.Name + "=" + f.Value + "\nRequest aborted")
}

func setPartitionState(v *partition.Partition, f api.Pair) error {
	switch strings.ToUpper(f.Value) {
	case "UP":
		v.State = partition.PartitionUp
	case "DOWN":
		v.State = partition.PartitionDown
	case "DRAIN":
		v.State = partition.PartitionDrain
	case "INACTIVE":
		v.State = partition.PartitionInactive
	default:
		return invalid("scontrol: error: Invalid input: State=" + f.Value + "\nscontrol: error: Acceptable State values are UP, DOWN, DRAIN and INACTIVE")
	}
	return nil
}

func setPartitionTime(field *job.Minutes, f api.Pair) error {
	m, err := slurm.ParseTimeLimit(f.Value)
	if err != nil {
		return badValue(f)
	}
	*field = m
	return nil
}

// setPartitionCount reads a count; UNLIMITED is none.
func setPartitionCount(field *uint32, f api.Pair) error {
	if strings.EqualFold(f.Value, "UNLIMITED") || strings.EqualFold(f.Value, "INFINITE") {
		*field = 0
		return nil
	}
	n, err := strconv.ParseUint(f.Value, 10, 31)
	if err != nil {
		return badValue(f)
	}
	*field = uint32(n)
	return nil
}

func setPartitionPriority(field *uint16, f api.Pair) error {
	n, err := strconv.ParseUint(f.Value, 10, 16)
	if err != nil {
		return badValue(f)
	}
	*field = uint16(n)
	return nil
}

func setYesNo(field *bool, f api.Pair) error {
	switch strings.ToUpper(f.Value) {
	case "YES":
		*field = true
	case "NO":
		*field = false
	default:
		return invalid("Invalid input: " + f.Name + "=" + f.Value + "\nAcceptable " + f.Name + " values are YES and NO")
	}
	return nil
}

func setPartitionNodes(root *state.Root, v *partition.Partition, f api.Pair) error {
	names, err := nodesNamed(root, f.Value)
	if err != nil {
		return err
	}
	v.Nodes, v.NodeList = nil, f.Value
	for _, n := range names {
		v.Nodes = append(v.Nodes, root.NodeNamed(n).ID)
	}
	return nil
}

// setPartitionSharing takes the two ways in which nodes are shared here: cores of
// their own for each job, or whole nodes.
func setPartitionSharing(v *partition.Partition, f api.Pair) error {
	word := strings.ToUpper(f.Value)
	if word != "NO" && word != "EXCLUSIVE" {
		return &api.Error{Kind: api.ErrInvalid, Text: textUpdate + slurm.TextNotSupported, Hint: "OverSubscribe is NO or EXCLUSIVE: no two jobs share a core"}
	}
	v.OverSubscribe = word
	return nil
}

// setPartitionExclusive is Exclusive=NODE, the newer name of OverSubscribe=EXCLUSIVE.
func setPartitionExclusive(v *partition.Partition, f api.Pair) error {
	switch strings.ToUpper(f.Value) {
	case "NODE":
		v.OverSubscribe = "EXCLUSIVE"
	case "NO":
		v.OverSubscribe = "NO"
	default:
		return &api.Error{Kind: api.ErrInvalid, Text: textUpdate + slurm.TextNotSupported, Hint: "Exclusive is NO or NODE"}
	}
	return nil
}

func setPartitionQOS(root *state.Root, v *partition.Partition, f api.Pair) error {
	if f.Value != "" && root.Book().QOSNamed(f.Value) == nil {
		return invalid(textUpdate + slurm.TextQOS)
	}
	v.QOS = f.Value
	return nil
}

func setPartitionAlternate(root *state.Root, v *partition.Partition, f api.Pair) error {
	if f.Value != "" && root.Partition(f.Value) == nil {
		return invalid(textUpdate + slurm.TextPartition)
	}
	v.Alternate = f.Value
	return nil
}

// setPartitionMemory reads MB; 0 and UNLIMITED are none.
func setPartitionMemory(field *job.Memory, per job.MemoryUnit, f api.Pair) error {
	var mb uint64
	if !strings.EqualFold(f.Value, "UNLIMITED") {
		var err error
		if mb, err = strconv.ParseUint(f.Value, 10, 40); err != nil {
			return badValue(f)
		}
	}
	*field = job.Memory{Per: per, MB: mb}
	if mb == 0 {
		*field = job.Memory{}
	}
	return nil
}
