package noded

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/api/pb"
	"muster/api/slurm"
	"muster/job"
)

// atOnce is how many jobs BenchmarkLaunch has on the node: that many CPUs are busy.
const atOnce = 16

// BenchmarkLaunch runs b.N trivial jobs, some at a time, and reports what the
// daemons cost: CPU of the shepherd, and of this process, which is the node
// daemon together with the test's controller.
func BenchmarkLaunch(b *testing.B) {
	s := newSite(b)
	s.launch(1, "true", stdout("/dev/null"))
	s.released(1)
	var all []*pb.Launch
	for i := range b.N {
		all = append(all, s.launchOf(uint32(i+2), "true", stdout("/dev/null"), likeSbatch))
	}
	own, shep := ownCPU(b), cpuOf(b, s.shepherdPID())
	b.ResetTimer()
	for i, l := range all {
		s.wait("room for a job", func() bool { return len(s.reports) >= 1+i-atOnce })
		s.tell(&pb.ToNode{Desired: &pb.Desired{Launch: []*pb.Launch{l}}})
	}
	s.wait("all ends", func() bool { return len(s.reports) >= b.N+1 })
	b.StopTimer()
	b.ReportMetric(float64(ownCPU(b)-own)/float64(b.N)/1e6, "noded-ms/job")
	b.ReportMetric(float64(cpuOf(b, s.shepherdPID())-shep)/float64(b.N)/1e6, "shepherd-ms/job")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func ownCPU(b *testing.B) time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// cpuOf is the CPU time of a process without its children, in clock ticks of 10 ms.
func cpuOf(b *testing.B, pid int) time.Duration {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		b.Fatal(err)
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// likeSbatch has a job ask for what sbatch passes on: the limits of the submitter,
// which here are those of this process.
func likeSbatch(l *pb.Launch, r *job.Request) {
	l.Part.MemoryMb = 100
	for _, name := range []string{"CPU", "FSIZE", "STACK", "CORE", "NPROC", "NOFILE"} {
		var own unix.Rlimit
		number, _ := slurm.LimitNumber(name)
		if err := unix.Prlimit(0, number, nil, &own); err == nil {
			r.Batch.Limits = append(r.Batch.Limits, job.Limit{Name: name, Value: own.Cur})
		}
	}
}
