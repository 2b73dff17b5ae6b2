package api

import (
	"testing"

	"muster/internal/wire"
	"muster/internal/wiretest"
)

func TestRecordCodecs(t *testing.T) {
	for _, m := range []wire.Message{
		new(JobRef), new(JobQuery), new(JobList), new(AcctQuery), new(JobRecord), new(JobArray), new(JobHet), new(JobOwner),
		new(JobCount), new(JobMemory), new(Resources), new(NodeQuery), new(NodeList), new(NodeRecord), new(NodeShape),
		new(PartitionQuery), new(PartitionList), new(PartitionRecord), new(PingReply), new(ControllerRecord), new(ConfigReply),
		new(ConfigPair), new(ScriptRequest), new(ScriptReply), new(NameQuery), new(ReservationList), new(ReservationRecord),
		new(WhyRequest), new(WhyReply), new(WhyReason), new(WhyBefore), new(WhyChange),
		new(LicenseList), new(LicenseRecord), new(StatsReply), new(StatsJobs), new(StatsCycles), new(StatsCall),
	} {
		wiretest.RoundTrip(t, m)
	}
}
