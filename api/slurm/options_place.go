package slurm

// placeOptions are the options on where: nodes, partitions, features, sharing.
func placeOptions() []Option {
	return []Option{
		no("batch", 0, RequiredArg, "name the node's features with --constraint", "SBATCH_BATCH").only(Sbatch),
		no("cluster", 0, RequiredArg, "submit on a host of that cluster"),
		no("cluster-constraint", 0, RequiredArg, "there is no federation here", "SBATCH_CLUSTER_CONSTRAINT"),
		req("clusters", 'M', "name of this cluster", text(func(o *Options) *string { return &o.Job.Cluster }), "SBATCH_CLUSTERS", "SLURM_CLUSTERS"),
		no("consolidate-segments", 0, NoArg, "there is no block topology here", "SBATCH_CONSOLIDATE_SEGMENTS").each(),
		req("constraint", 'C', "features that the nodes must have", setConstraint, "SBATCH_CONSTRAINT").each(),
		flag("contiguous", 0, "nodes that are next to each other", func(o *Options) { o.Job.Place.Contiguous = true }).each(),
		no("delay-boot", 0, RequiredArg, "nodes are not booted for jobs here", "SBATCH_DELAY_BOOT"),
		req("distribution", 'm', "how tasks are spread: block, cyclic, plane=N, arbitrary", setDistribution, "SBATCH_DISTRIBUTION").each(),
		req("exclude", 'x', "nodes not to use", text(func(o *Options) *string { return excludeText(o) })),
		opt("exclusive", 0, "whole nodes, shared with no other job", setExclusive, "SBATCH_EXCLUSIVE").each().but("use --exclusive", "mcs", "topo", "user"),
		no("mcs-label", 0, RequiredArg, "there are no MCS labels here"),
		req("nodefile", 'F', "file of nodes to use", text(func(o *Options) *string { return &o.NodeFile })).each(),
		req("nodelist", 'w', "nodes to use", text(func(o *Options) *string { return includeText(o) })).each(),
		flag("oversubscribe", 's', "share cores with other jobs", func(o *Options) { o.Job.Place.Sharing = shareCores }).each(),
		req("partition", 'p', "partitions to run in", setPartition, "SBATCH_PARTITION").each(),
		req("prefer", 0, "features that the nodes should have", text(func(o *Options) *string { return &o.Job.Place.Prefer })).each(),
		no("reboot", 0, NoArg, "nodes are not booted for jobs here"),
		req("reservation", 0, "run in these reservations", text(func(o *Options) *string { return &o.Job.Reservation }), "SBATCH_RESERVATION"),
		no("resv-ports", 0, OptionalArg, "ports are not reserved here").each(),
		req("segment", 0, "so many nodes, or a multiple, in each block", setSegment, "SBATCH_SEGMENT_SIZE").each(),
		flag("spread-job", 0, "as many nodes as possible", func(o *Options) { o.Job.Place.Spread = true }, "SBATCH_SPREAD_JOB").each(),
		no("spread-segments", 0, NoArg, "there is no block topology here", "SBATCH_SPREAD_SEGMENTS").each(),
		req("switches", 0, "most switches, and how long to wait for that: count[@time]", setSwitches).each(),
	}
}
