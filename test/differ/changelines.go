package differ

import (
	"fmt"
	"strings"
)

// families are the kinds of cases that change something.
func families() []family {
	const resv = "reservationname=res1 starttime=2035-01-01T00:00:00 duration=60"
	return []family{
		{name: "waiting", before: []string{"sbatch --parsable -J base -D /tmp -H -n2 -t 20 --wrap=true"}, look: "r scontrol show job @0@", lines: updateLines("@0@")},
		{name: "array", before: []string{"sbatch --parsable -J base -D /tmp -H --array=1-6 -t 20 --wrap=true"}, look: "squeue -h -r -S K -j @0@ -o %K|%T|%j|%l|%r|%y", lines: arrayLines},
		{name: "running", before: []string{"sbatch --parsable -J base -D /tmp -w n2 -o /dev/null -t 20 --wrap=sleep~600"}, running: true, look: "r scontrol show job @0@", lines: runningLines},
		{name: "queue", before: []string{
			"sbatch --parsable -J one -D /tmp -H --wrap=true",
			"sbatch --parsable -J two -D /tmp -H -p short -t 4 --wrap=true",
			"sbatch --parsable -J two -D /tmp -H -w n3 --array=1-4 --wrap=true",
			"r sbatch --parsable -J root -D /tmp -H --wrap=true",
		}, look: "squeue -h -r -S i -o %i|%j|%T", lines: cancelLines},
		{name: "allocation", lines: allocationLines()},
		{name: "accounts", undo: []string{
			"r sacctmgr -i -Q delete account where account=new",
			"r sacctmgr -i -Q delete user where user=games", "r sacctmgr -i -Q delete account where account=t2", "r sacctmgr -i -Q delete account where account=t1", "r sacctmgr -i -Q delete qos where name=q1",
		}, look: "r sacctmgr -n -P show assoc where account=t1,t2,new format=account,user,share,grptres,grpjobs,grpsubmit,grpwall,maxjobs,maxsubmit,maxtres,maxwall,maxtresmins,qos,defaultqos,priority,parentname",
			before: []string{
				"r sacctmgr -i -Q add account t1", "r sacctmgr -i -Q add account t2 parent=t1", "r sacctmgr -i -Q add user games account=t1", "r sacctmgr -i -Q add qos q1",
			}, lines: accountLines},
		{name: "qos", undo: []string{"r sacctmgr -i -Q delete qos where name=q1"}, before: []string{"r sacctmgr -i -Q add qos q1"},
			look: "r sacctmgr -n -P show qos q1 format=name,priority,gracetime,preempt,preemptmode,flags,usagethres,usagefactor,grptres,grptresmins,grptresrunmins,grpjobs,grpsubmit,grpwall,maxtres,maxtrespernode,maxtresmins,maxwall,maxtrespu,maxjobspu,maxsubmitpu,maxtrespa,maxjobspa,maxsubmitpa,mintres", lines: qosLines},
		{name: "new reservation", undo: []string{"r scontrol delete reservationname=res1"}, look: "r scontrol show reservation res1", lines: reservationLines("scontrol create "+resv, createValues) + reservationOdd},
		{name: "reservation", before: []string{"r scontrol create " + resv + " nodes=n1 users=root"}, undo: []string{"r scontrol delete reservationname=res1"}, look: "r scontrol show reservation res1",
			lines: reservationLines("scontrol update reservationname=res1", updateValues)},
		{name: "partition", before: []string{"r scontrol create partitionname=part1 nodes=n1"}, undo: []string{"r scontrol delete partitionname=part1"}, look: "r scontrol show partition part1", lines: partitionLines},
		{name: "node", undo: []string{"r scontrol update nodename=n1 state=resume", "r scontrol update nodename=n1 comment= extra= weight=1"},
			look: "r sinfo -h -N -n n1 -p debug -O NodeList,StateLong,Reason:30,Weight,Comment:20,Extra", lines: nodeLines},
	}
}

// updateLines are changes of a waiting job by its user and by root.
func updateLines(id string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(jobValues), "\n") {
		name, values, _ := strings.Cut(line, "=")
		for _, v := range list(values) {
			fmt.Fprintf(&b, "scontrol update jobid=%s %s=%s\n", id, name, v)
			if !strings.ContainsAny(v, "x~") {
				fmt.Fprintf(&b, "r scontrol update jobid=%s %s=%s\n", id, name, v)
			}
		}
	}
	return b.String() + strings.TrimSpace(jobLines)
}

// reservationLines are root's lines with one word more each.
func reservationLines(start, values string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(values), "\n") {
		fmt.Fprintf(&b, "r %s %s\n", start, line)
	}
	return b.String()
}

// jobValues are the fields that scontrol update job knows, with values; nothing
// after the last bar is an empty value.
const jobValues = `
Account=bio|phys|nosuch|
AdminComment=abc|a~b|
ArrayTaskThrottle=2|0|x
BurstBuffer=x
ClusterFeatures=x
Comment=abc|a~b|
Contiguous=yes|no|1|0|x
CoreSpec=1|0|x
CPUsPerTask=2|0|x
Deadline=2036-01-01|now+1hour|2020-01-01|x|
DelayBoot=5|x
Dependency=afterok:1|singleton|afterany:@0@|bogus:3|
EligibleTime=2036-01-01|x
EndTime=2036-01-01|now+1hour|x
ExcNodeList=n1|n9|n[1-4]|
Extra=abc|
Features=fast|nosuch|fast&slow|
Gres=gpu:2|gpu:9|none|x|
JobName=abc|a~b|
Name=abc|
Licenses=foo:1|foo:9|nosuch|
MailType=END|x|
MailUser=bob|
MinCPUsNode=2|9|0|x
MinMemoryCPU=50|5G|0|x
MinMemoryNode=50|5G|0|x
MinTmpDiskNode=1|x
Nice=5|-5|0|x|100000|2147483645
NodeList=n1|n[1-2]|n9|
NumCPUs=4|2-4|0|x|40
NumNodes=2|1-2|0|x|9|2-1
NumTasks=4|0|x|40
OverSubscribe=yes|no|1|0|user|x
Shared=1
Partition=short|debug,short|down|nosuch|
Prefer=fast|
Priority=5|0|-1|x|4294967295
QOS=normal|nosuch|
ReqCores=2|x
ReqNodeList=n1|n[1-3]|n9|
ReqNodes=2|1-3
ReqProcs=4
ReqSockets=1
ReqThreads=1
Requeue=0|1|x
ReservationName=nosuch|
ResetAccrueTime=|1
SiteFactor=5|-5|x
StartTime=2036-01-01|now|now+1hour|tomorrow|2020-01-01|x
StdOut=/tmp/x|out-%j|
StdErr=/tmp/x|
StdIn=/dev/null|
Switches=1|1@5|x
TasksPerNode=2|x
ThreadSpec=1
TimeLimit=5|1:00:00|+5|-5|UNLIMITED|2-0|0|x|-50
TimeMin=5|40|0|x
UserID=0|games|nosuch
WCKey=abc|
WorkDir=/|nosuch|
bogus=1
TimeLim=5
`

const jobLines = `
scontrol update jobid=@0@
scontrol update job @0@ timelimit=5
scontrol update job=@0@ timelimit=5 name=both
scontrol update jobid=@0@ timelimit
scontrol update JOBID=@0@ TIMELIMIT=7
scontrol update jobid=9999999 timelimit=5
scontrol update jobid=x timelimit=5
scontrol update jobid=@0@,9999999 timelimit=5
scontrol update jobid=@0@ timelimit=5 bogus=3
scontrol update jobname=base timelimit=5
scontrol update jobname=nosuch timelimit=5
scontrol update timelimit=5
scontrol update
scontrol update jobid=@0@ numnodes=2 numtasks=2 minmemorynode=100
scontrol hold @0@
scontrol uhold @0@
r scontrol hold @0@
r scontrol uhold @0@
scontrol release @0@
r scontrol release @0@
scontrol hold jobname=base
scontrol release jobname=base
scontrol hold name=nosuch
scontrol hold 9999999
scontrol release 9999999
scontrol hold
scontrol release
scontrol hold @0@ 9999999
scontrol hold @0@,9999999
scontrol hold x
scontrol requeue @0@
scontrol requeue
scontrol requeue 9999999
scontrol requeuehold @0@
scontrol suspend @0@
r scontrol suspend @0@
r scontrol resume @0@
scontrol suspend 9999999
scontrol top @0@
r scontrol top @0@
scontrol top
scontrol notify @0@ hello
scontrol completing
scontrol show job 9999999
scontrol show job x
scontrol show step @0@
scontrol show step @0@.0
scontrol write batch_script @0@ -
scontrol write batch_script 9999999 -
scontrol write batch_script
scontrol write x
scontrol bogus
scontrol update bogus=1
scontrol delete jobid=@0@
scontrol delete bogus=1
scontrol delete
scontrol create
scontrol create bogus=1
scancel @0@
scancel -f @0@
scancel -b @0@
scancel --signal=9 @0@
`

const arrayLines = `
scontrol update jobid=@0@_2 name=two
scontrol update jobid=@0@_[2-3] name=two
scontrol update jobid=@0@_2,@0@_3 name=two
scontrol update jobid=@0@_9 name=two
scontrol update jobid=@0@_x name=two
scontrol update jobid=@0@ name=all timelimit=5
scontrol update jobid=@0@_* name=all
scontrol update jobid=@0@_1,3 name=two
scontrol update jobid=@0@_1,3-4 name=two
scontrol update jobid=@0@ arraytaskthrottle=2
scontrol update jobid=@0@_2 arraytaskthrottle=2
scontrol hold @0@_2
scontrol release @0@_2
scontrol release @0@_[2-4]
scontrol release @0@_2,4
scontrol release @0@
scontrol release @0@_9
r scontrol hold @0@_2
scancel @0@_2
scancel @0@_[2-3]
scancel @0@_[1,3-4]
scancel @0@_9
scancel @0@_[9-12]
scancel @0@_[4-9]
scancel @0@_2 @0@_4
scancel @0@_2,@0@_4
scancel @0@_2-4
scancel @0@_x
scancel @0@_[
scancel @0@_[]
scancel @0@_[2
scancel @0@_[1-6:2]
scancel @0@_*
scancel @0@
scancel -v @0@_2
scancel @0@_2.0
scancel @0@_2.batch
scontrol requeue @0@_2
scontrol requeue @0@_9
scontrol show job @0@_9
scontrol show job @0@_x
`

const runningLines = `
scontrol update jobid=@0@ timelimit=5
scontrol update jobid=@0@ timelimit=30
scontrol update jobid=@0@ timelimit=-5
r scontrol update jobid=@0@ timelimit=30
r scontrol update jobid=@0@ timelimit=+30
r scontrol update jobid=@0@ timelimit=UNLIMITED
scontrol update jobid=@0@ name=abc
scontrol update jobid=@0@ comment=abc
scontrol update jobid=@0@ partition=short
r scontrol update jobid=@0@ partition=short
scontrol update jobid=@0@ account=bio
scontrol update jobid=@0@ qos=normal
scontrol update jobid=@0@ nice=5
scontrol update jobid=@0@ priority=5
r scontrol update jobid=@0@ priority=5
scontrol update jobid=@0@ numnodes=2
scontrol update jobid=@0@ numnodes=1
scontrol update jobid=@0@ numcpus=2
scontrol update jobid=@0@ numtasks=2
scontrol update jobid=@0@ minmemorynode=50
scontrol update jobid=@0@ features=fast
scontrol update jobid=@0@ nodelist=n1
scontrol update jobid=@0@ excnodelist=n1
scontrol update jobid=@0@ gres=gpu:1
scontrol update jobid=@0@ licenses=foo:1
scontrol update jobid=@0@ starttime=2036-01-01
scontrol update jobid=@0@ endtime=2036-01-01
r scontrol update jobid=@0@ endtime=now+1hour
scontrol update jobid=@0@ stdout=/tmp/x
scontrol update jobid=@0@ stderr=/tmp/x
scontrol update jobid=@0@ stdin=/tmp/x
scontrol update jobid=@0@ workdir=/
scontrol update jobid=@0@ requeue=0
scontrol update jobid=@0@ dependency=singleton
scontrol update jobid=@0@ deadline=2036-01-01
scontrol update jobid=@0@ timemin=5
scontrol update jobid=@0@ contiguous=1
scontrol update jobid=@0@ oversubscribe=1
scontrol update jobid=@0@ mailtype=END
scontrol update jobid=@0@ mailuser=bob
scontrol update jobid=@0@ reservationname=nosuch
scontrol update jobid=@0@ switches=1
scontrol update jobid=@0@ wckey=a
scontrol update jobid=@0@ extra=a
r scontrol update jobid=@0@ admincomment=a
scontrol update jobid=@0@ reqsockets=1
scontrol update jobid=@0@ mincpusnode=2
scontrol hold @0@
r scontrol hold @0@
scontrol release @0@
scontrol resume @0@
r scontrol resume @0@
scontrol suspend @0@
scancel -t PENDING @0@
scancel -s CONT @0@
scancel -s BOGUS @0@
scancel @0@.7
scancel -b -s CONT @0@
`

const cancelLines = `
scancel -n two
scancel --name=two,one
scancel -n nosuch
scancel -p short
scancel -p nosuch
scancel --partition=debug
scancel -u daemon
scancel -u root
scancel -u nosuch
scancel -u 1
scancel --me
scancel --me -n two
scancel -A phys
scancel -A nosuch
scancel -q normal
scancel -q nosuch
scancel -t PENDING
scancel -t PD
scancel -t RUNNING
scancel -t CG
scancel -t bogus
scancel -t COMPLETED
scancel -w n3
scancel -w n9
scancel --wckey=x
scancel -R nosuch
scancel -R nosuch -u daemon
scancel -n two -p short
scancel -n two @0@
scancel -n one @0@
scancel -n one @0@ @1@
scancel -u daemon @3@
scancel @3@
scancel @0@ @3@
scancel @0@,@1@
scancel @0@ @1@ 9999999
scancel 9999999
scancel 9999999,@0@
scancel -Q 9999999
scancel -v 9999999
scancel -Q @3@
scancel
scancel -f
scancel -b
scancel x
scancel 1x
scancel ""
scancel 0
scancel -1
scancel @0@.x
scancel @0@.batch
scancel @0@.extern
scancel @0@.0
scancel @0@+0
scancel @0@+1
scancel @2@_1 @0@
scancel @2@_[1-2] @1@
scancel -s KILL @0@
scancel -s 9 @0@
scancel -s SIGKILL @0@
scancel -s x @0@
scancel --signal
scancel --bogus
scancel -M conform @0@
scancel -M nosuch @0@
scancel --ctld @0@
scancel --hurry @0@
scancel --sibling=x @0@
scancel --full --batch @0@
r scancel -u daemon
r scancel -u daemon -t RUNNING
r scancel -A phys -n one
r scancel -n root
r scancel -p debug -u daemon
r scancel @0@ @3@
r scancel -u root,daemon
`

const createValues = `
nodes=n1 users=daemon
nodes=n[1-2] accounts=phys
nodes=n1 users=nosuch
nodes=n1 accounts=nosuch
nodes=n9 users=root
nodes=n1
nodes=ALL users=root
nodes=ALL users=root flags=maint
nodes=n1 users=root flags=bogus
nodes=n1 users=root flags=IGNORE_JOBS
nodes=n1 users=root flags=ignore_jobs,overlap
nodes=n1 users=root flags=MAINT,SPEC_NODES
nodes=n1 users=root flags=flex
nodes=n1 users=root flags=magnetic
nodes=n1 users=root flags=no_hold_jobs_after_end
nodes=n1 users=root flags=any_nodes
nodes=n1 users=root flags=part_nodes
nodes=ALL users=root flags=part_nodes partition=short
nodes=n1 users=root flags=license_only
users=root flags=license_only licenses=foo:2
users=root licenses=foo:9 flags=license_only
users=root licenses=nosuch flags=license_only
nodecnt=2 users=root
nodecnt=9 users=root
nodecnt=0 users=root
nodecnt=x users=root
nodecnt=2 users=root partition=short
nodecnt=2 users=root partition=nosuch
nodecnt=2 users=root features=fast
nodecnt=2 users=root features=nosuch
nodecnt=1 users=root tres=cpu=4
nodes=n1 users=-alice
nodes=n1 users=-daemon accounts=phys
nodes=n1 accounts=-phys
nodes=n1 users=root,daemon accounts=phys,bio
nodes=n1 groups=daemon
nodes=n1 groups=nosuch
nodes=n1 users=root qos=normal
nodes=n1 users=root comment=abc
nodes=n1 users=root maxstartdelay=60
nodes=n1 users=root licenses=foo:2
nodes=n1 users=root bogus=1
nodes=n1,n1 users=root
nodes=n1 partition=short users=root
nodes=n3 partition=short users=root
`

const reservationOdd = `
r scontrol create reservationname=res1 nodes=n1 users=root
r scontrol create reservationname=res1 nodes=n1 users=root starttime=now
r scontrol create reservationname=res1 nodes=n1 users=root starttime=2035-01-01
r scontrol create reservationname=res1 nodes=n1 users=root starttime=2035-01-01 endtime=2035-01-02
r scontrol create reservationname=res1 nodes=n1 users=root starttime=2035-01-02 endtime=2035-01-01
r scontrol create reservationname=res1 nodes=n1 users=root starttime=2035-01-01 duration=UNLIMITED
r scontrol create reservationname=res1 nodes=n1 users=root starttime=2035-01-01 duration=1-0
r scontrol create reservationname=res1 nodes=n1 users=root starttime=2035-01-01 duration=x
r scontrol create reservationname=res1 nodes=n1 users=root starttime=2035-01-01 duration=0
r scontrol create reservationname=res1 nodes=n1 users=root starttime=x duration=5
r scontrol create reservationname=res1 nodes=n1 users=root starttime=2020-01-01 duration=5
r scontrol create reservation=res1 nodes=n1 users=root starttime=2035-01-01 duration=5
r scontrol create res=res1 nodes=n1 users=root start=2035-01-01 duration=5
r scontrol create ReservationName=res1 Nodes=n1 User=root StartTime=2035-01-01 Duration=5
scontrol create reservationname=res1 nodes=n1 users=daemon starttime=2035-01-01 duration=5
r scontrol delete reservationname=nosuch
r scontrol delete reservation=nosuch
r scontrol delete reservation nosuch
scontrol delete reservationname=nosuch
r scontrol update reservationname=nosuch duration=5
r scontrol show reservation nosuch
r scontrol show reservation
`

const updateValues = `
duration=5
duration=+10
duration=-10
duration=UNLIMITED
duration=x
starttime=2035-02-01
starttime=now
starttime=x
endtime=2035-02-01
endtime=2034-01-01
nodes=n2
nodes=n[1-2]
nodes=+n2
nodes=-n1
nodes=n9
nodes=
nodecnt=2
nodecnt=0
users=daemon
users+=daemon
users=+daemon
users-=root
users=nosuch
users=
accounts=phys
accounts+=phys
accounts=nosuch
flags=maint
flags+=maint
flags-=maint
flags=ignore_jobs
flags=bogus
partition=short
partition=nosuch
features=fast
licenses=foo:1
licenses=
groups=daemon
qos=normal
comment=abc
maxstartdelay=60
skip
bogus=1
`

const partitionLines = `
r scontrol update partitionname=part1 state=down
r scontrol update partitionname=part1 state=DRAIN
r scontrol update partitionname=part1 state=inactive
r scontrol update partitionname=part1 state=up
r scontrol update partitionname=part1 state=bogus
r scontrol update partitionname=part1 maxtime=60
r scontrol update partitionname=part1 maxtime=UNLIMITED
r scontrol update partitionname=part1 maxtime=1-0
r scontrol update partitionname=part1 maxtime=x
r scontrol update partitionname=part1 defaulttime=30
r scontrol update partitionname=part1 defaulttime=NONE
r scontrol update partitionname=part1 defaulttime=x
r scontrol update partitionname=part1 maxnodes=2
r scontrol update partitionname=part1 maxnodes=UNLIMITED
r scontrol update partitionname=part1 maxnodes=x
r scontrol update partitionname=part1 minnodes=1
r scontrol update partitionname=part1 minnodes=x
r scontrol update partitionname=part1 nodes=n[1-2]
r scontrol update partitionname=part1 nodes=+n2
r scontrol update partitionname=part1 nodes=-n1
r scontrol update partitionname=part1 nodes=n9
r scontrol update partitionname=part1 nodes=ALL
r scontrol update partitionname=part1 nodes=
r scontrol update partitionname=part1 allowaccounts=phys
r scontrol update partitionname=part1 allowaccounts=ALL
r scontrol update partitionname=part1 allowaccounts=nosuch
r scontrol update partitionname=part1 denyaccounts=phys
r scontrol update partitionname=part1 allowqos=normal
r scontrol update partitionname=part1 allowqos=nosuch
r scontrol update partitionname=part1 denyqos=normal
r scontrol update partitionname=part1 allowgroups=daemon
r scontrol update partitionname=part1 allowgroups=nosuch
r scontrol update partitionname=part1 allocnodes=n1
r scontrol update partitionname=part1 qos=normal
r scontrol update partitionname=part1 qos=nosuch
r scontrol update partitionname=part1 default=no
r scontrol update partitionname=part1 default=x
r scontrol update partitionname=part1 hidden=yes
r scontrol update partitionname=part1 hidden=x
r scontrol update partitionname=part1 rootonly=yes
r scontrol update partitionname=part1 rootonly=x
r scontrol update partitionname=part1 reqresv=yes
r scontrol update partitionname=part1 disablerootjobs=yes
r scontrol update partitionname=part1 exclusiveuser=yes
r scontrol update partitionname=part1 exclusivetopo=yes
r scontrol update partitionname=part1 lln=yes
r scontrol update partitionname=part1 oversubscribe=no
r scontrol update partitionname=part1 oversubscribe=yes
r scontrol update partitionname=part1 oversubscribe=force:4
r scontrol update partitionname=part1 oversubscribe=exclusive
r scontrol update partitionname=part1 oversubscribe=x
r scontrol update partitionname=part1 shared=yes
r scontrol update partitionname=part1 prioritytier=5
r scontrol update partitionname=part1 priorityjobfactor=5
r scontrol update partitionname=part1 priority=5
r scontrol update partitionname=part1 prioritytier=x
r scontrol update partitionname=part1 preemptmode=off
r scontrol update partitionname=part1 preemptmode=requeue
r scontrol update partitionname=part1 preemptmode=bogus
r scontrol update partitionname=part1 gracetime=60
r scontrol update partitionname=part1 gracetime=x
r scontrol update partitionname=part1 overtimelimit=5
r scontrol update partitionname=part1 overtimelimit=UNLIMITED
r scontrol update partitionname=part1 defmempercpu=50
r scontrol update partitionname=part1 defmempernode=50
r scontrol update partitionname=part1 maxmempercpu=500
r scontrol update partitionname=part1 maxmempernode=500
r scontrol update partitionname=part1 defmempercpu=x
r scontrol update partitionname=part1 maxcpuspernode=4
r scontrol update partitionname=part1 maxcpuspersocket=4
r scontrol update partitionname=part1 jobdefaults=DefCpuPerGPU=2
r scontrol update partitionname=part1 jobdefaults=bogus
r scontrol update partitionname=part1 tresbillingweights=CPU=1.0,Mem=0.25G
r scontrol update partitionname=part1 alternate=debug
r scontrol update partitionname=part1 alternate=nosuch
r scontrol update partitionname=part1 cpubind=core
r scontrol update partitionname=part1 bogus=1
r scontrol update partitionname=nosuch state=up
r scontrol update partition=part1 state=down
r scontrol update partition part1 state=down
scontrol update partitionname=part1 state=down
r scontrol create partitionname=part1 nodes=n1
r scontrol create partitionname=debug
r scontrol create partition part2 nodes=n9
r scontrol create partitionname=part1 bogus=1
scontrol create partitionname=part3 nodes=n1
r scontrol delete partitionname=part1
r scontrol delete partition=part1
r scontrol delete partitionname=nosuch
scontrol delete partitionname=part1
r scontrol show partition nosuch
`

const nodeLines = `
r scontrol update nodename=n1 state=drain reason=test
r scontrol update nodename=n1 state=drain
r scontrol update nodename=n1 state=DRAIN reason=a~b
r scontrol update nodename=n1 state=down reason=test
r scontrol update nodename=n1 state=down
r scontrol update nodename=n1 state=fail reason=test
r scontrol update nodename=n1 state=idle
r scontrol update nodename=n1 state=resume
r scontrol update nodename=n1 state=undrain
r scontrol update nodename=n1 state=bogus
r scontrol update nodename=n1 state=noresp
r scontrol update nodename=n1 reason=test
r scontrol update nodename=n1 weight=5
r scontrol update nodename=n1 weight=x
r scontrol update nodename=n1 comment=abc
r scontrol update nodename=n1 extra=abc
r scontrol update nodename=n1 bogus=1
r scontrol update nodename=n9 state=drain reason=x
r scontrol update nodename=n[1-9] state=drain reason=x
r scontrol update nodename=n1,n9 state=drain reason=x
r scontrol update node=n1 state=drain reason=x
r scontrol update nodename= state=drain
scontrol update nodename=n1 state=drain reason=x
r scontrol show node n9
r scontrol show node n1,n9
r scontrol show hostnames n[1-3]
r scontrol show hostlist n1,n2,n3
r scontrol show hostlistsorted n3,n1
`
