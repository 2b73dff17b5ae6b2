// Package clients asks a real cluster what the programs that drive Slurm ask, in
// their own words, and reads the answers as they do.
package clients

import (
	"context"
	"encoding/json"
	"os"
	"os/user"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/test/cluster"
)

// question is one command line of a client. {run}, {bad} and {held} in it and
// in the patterns stand for the ids of three jobs.
type question struct {
	client string
	env    string // NAME=value, or ""
	args   []string
	stdout string // what all of standard output must match
	stderr string
	code   int
}

// commandLine splits a command line at spaces outside of single quotes.
func commandLine(line string) []string {
	var words []string
	word, quoted := "", false
	for _, c := range line + " " {
		switch {
		case c == '\'':
			quoted = !quoted
		case c == ' ' && !quoted:
			if word != "" {
				words = append(words, word)
			}
			word = ""
		default:
			word += string(c)
		}
	}
	return words
}

func q(client, line, stdout string) question {
	return question{client: client, args: commandLine(line), stdout: stdout}
}

const (
	stamp = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`
	span  = `(\d+-)?\d\d:\d\d:\d\d`
)

// questions about the queue.
func queueQuestions() []question {
	unknown := "slurm_load_jobs error: Invalid job id specified\n"
	return []question{
		q("snakemake", `squeue --format=%i|%T --states=all --noheader --name uuid-1`, `{run}\|RUNNING\n`),
		q("nextflow", `squeue --noheader -o '%i %t' -t all -u {user}`, `(\S+ (PD|R|CA|CF|CG|CD|F|TO|NF|S|ST|PR|BF)\n)+`),
		q("nextflow", `squeue --noheader --only-job-state`, `( *\S+ +(PD|R|F)\n)+`),
		q("parsl", `squeue --noheader --format='%i %t' --job {run},{bad}`, `{run} R\n`),
		q("toil", `squeue -h --format '%i %t %M'`, `(\S+ [A-Z]+ [0-9:-]+\n)+`),
		{client: "cromwell", args: commandLine(`squeue -j 999999`), stdout: ``, stderr: unknown, code: 1},
		q("AiiDA", `squeue --noheader -o '%i^^^%t^^^%r^^^%B^^^%u^^^%D^^^%C^^^%R^^^%P^^^%l^^^%M^^^%S^^^%j^^^%V' --jobs=999999,999999`, ``),
		{client: "AiiDA", env: "SLURM_TIME_FORMAT=standard",
			args:   commandLine(`squeue --noheader -o '%i^^^%t^^^%r^^^%B^^^%u^^^%D^^^%C^^^%R^^^%P^^^%l^^^%M^^^%S^^^%j^^^%V' --jobs={run},{run}`),
			stdout: `{run}\^\^\^R\^\^\^None\^\^\^n\d\^\^\^{user}\^\^\^1\^\^\^2\^\^\^n\d\^\^\^main\^\^\^[^^]+\^\^\^[^^]+\^\^\^` + stamp + `\^\^\^uuid-1\^\^\^` + stamp + `\n`},
		q("batchspawner", `squeue -h -j {run} -o '%T %B'`, `RUNNING n\d\n`),
		q("Open OnDemand", "squeue --all --states=all --noconvert -O JobID:\x1f,Account:\x1f,UserName:\x1f,tres-per-node:\x1f,StateCompact:\x1f -j {run}",
			"JOBID\x1fACCOUNT\x1fUSER\x1fTRES_PER_NODE\x1fST\x1f\n{run}\x1f[^\x1f]+\x1f{user}\x1fgres/gpu:1\x1fR\x1f\n"),
		q("vpenso exporter", `squeue -a -r -h '-o %A|%a|%T|%C'`, `( \d+\|[^|]*\|[A-Z]+\|\d+\n){5,}`),
		q("vpenso exporter", `squeue -a -r -h -o%P --states=PENDING`, `(main\n){4}`),
		q("rivosinc exporter", `squeue --states=all -h -r -j {run} -o '{"a": "%a", "id": %A, "mem": "%m"}'`, `{"a": "[^"]*", "id": {run}, "mem": "\d+[MG]?"}\n`),
		q("ClusterShell", `squeue -h -j {run} -o %N`, `n\d\n`),
		q("turm", `squeue --array --noheader -j {run} --Format jobid:###turm###,name:###turm###,statecompact:###turm###,ArrayTaskID:###turm###,NodeList:###turm###`,
			`{run}###turm###uuid-1###turm###R###turm###N/A###turm###n\d###turm###\n`),
		q("stui", `squeue --noheader --all '--format="%A|%i|%F|%K|%T|%N"' -j {run}`, `"{run}\|{run}\|{run}\|N/A\|RUNNING\|n\d"\n`),
		q("stui", `squeue -u {user} --sort=-V -h --format=%A`, `(\d+\n)+`),
		q("NeMo-Run", `squeue --start --noheader -j {held} -o %i|%S|%T`, `{held}\|N/A\|PENDING\n`),
		q("PSI/J", `squeue -O JobArrayID,StateCompact,Reason -t all --me`, `JOBID {15}ST {18}REASON {14}\n(\S+ +[A-Z]+ +\S+ *\n)+`),
		q("PSI/J", `squeue --me -o %i -h -r -t all`, `(\d+(_\d+)?\n)+`),
		q("cylc", `squeue -h -j {run},{held}`, `( *\d+ +main +.*\n){2}`),
		q("batchtools", `squeue --user={user} --states=PD,CF,RF,RH,RQ,SE --noheader --format=%i -r`, `(\d+(_\d+)?\n){4}`),
		q("batchtools", `squeue --states=R,S,CG,RS,SI,SO,ST --noheader --format=%i --clusters=all`, `{run}\n`),
		q("FireWorks", `squeue '-o "%u"' -u {user}`, ` "USER"\n( "{user}"\n)+`),
		q("signac-flow", `squeue -u {user} -h --format=%2t%100j -j {run}`, `R uuid-1 {94}\n`),
		q("Galaxy Pulsar", `squeue -a -o '%A %t' -j {run}`, `JOBID ST\n{run} R\n`),
		q("Slurm_tools", `squeue -h -j {run} -O 'UserName,Account,Partition:20,Reason: ,SubmitTime'`, `{user} +\S+ +main {16}None `+stamp+` \n`),
		q("SkyPilot", `squeue --me -h -o %i --states r,pd --name uuid-1`, `{run}\n`),
		q("SkyPilot", `squeue -h --only-job-state --jobs {run} -o %T`, `RUNNING\n`),
	}
}

// questions about finished jobs.
func acctQuestions() []question {
	return []question{
		q("submitit", `sacct -o JobID,State,NodeList --parsable2 -j {run} -j {bad}`,
			`JobID\|State\|NodeList\n{run}\|RUNNING\|n\d\n{run}.batch\|RUNNING\|n\d\n{bad}\|FAILED\|n\d\n{bad}.batch\|FAILED\|n\d\n`),
		q("snakemake 7", `sacct -P -n --format=JobIdRaw,State -j {bad}`, `{bad}\|FAILED\n{bad}.batch\|FAILED\n`),
		q("snakemake", `sacct -X --parsable2 --clusters all --noheader --format=JobIdRaw,State --starttime 2020-11-01T00:00 --endtime now --name uuid-1`, `{run}\|RUNNING\n`),
		q("parsl", `sacct -X --noheader --format=jobid,state%20 --job {run},{bad}`, `{run} +RUNNING \n{bad} +FAILED \n`),
		q("toil", `sacct -n -j {bad} --format JobIDRaw,State,ExitCode -P -S 1970-01-01`, `{bad}\|FAILED\|3:0\n{bad}.batch\|FAILED\|3:0\n`),
		q("Open OnDemand", "sacct -P --delimiter \x1f -n --units G --allocations -o User,JobId,JobName,ReqMem,AllocCPUS,Timelimit,State,TotalCPU,Submit,End -j {bad}",
			"{user}\x1f{bad}\x1fwrap\x1f[0-9.]*G?\x1f1\x1f[^\x1f]*\x1fFAILED\x1f[0-9:.]+\x1f"+stamp+"\x1f"+stamp+"\n"),
		q("reportseff", `sacct --parsable -n --delimiter=^|^ --format=AllocCPUS,Elapsed,JobID,JobIDRaw,NNodes,State --allusers --jobs={bad}`,
			`1\^\|\^`+span+`\^\|\^{bad}\^\|\^{bad}\^\|\^1\^\|\^FAILED\^\|\^\n1\^\|\^`+span+`\^\|\^{bad}.batch.*\n`),
		{client: "jobstats", env: "SLURM_TIME_FORMAT=%s", args: commandLine(`sacct -P -X -o jobidraw,start,end,cluster,state,timelimitraw,jobname -j {bad}`),
			stdout: `JobIDRaw\|Start\|End\|Cluster\|State\|TimelimitRaw\|JobName\n{bad}\|\d{10}\|\d{10}\|[a-z]+\|FAILED\|(\d+|UNLIMITED)\|wrap\n`},
		q("jobstats", `sacct -V`, `slurm \S+\n`),
		q("jobstats", `sacct -j {bad} -B`, `Batch Script for {bad}\n-{80}\n#!/bin/sh\n(.*\n)*exit 3\n+`),
		q("NeMo-Run", `sacct --parsable2 -j {run}`, `JobID\|JobName\|Partition\|Account\|AllocCPUS\|State\|ExitCode\n{run}\|uuid-1\|main\|[^|]*\|2\|RUNNING\|0:0\n{run}.batch\|batch\|.*\n`),
		q("SlurmCommander", `sacct -n -S now-7days -o jobid%20,jobname%30,partition,state,exitcode -p -j {bad}`, `{bad}\|wrap\|main\|FAILED\|3:0\|\n{bad}.batch\|batch\|\|FAILED\|3:0\|\n`),
		{client: "Open XDMoD", env: "TZ=UTC", args: commandLine(`sacct --clusters all --allusers --parsable2 --noheader --allocations --duplicates --format ` +
			`jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname --state F --starttime 2020-01-01 --endtime now`),
			stdout: `{bad}(\|[^|\n]*){25}\n`},
	}
}

// questions about nodes, partitions and settings.
func clusterQuestions() []question {
	return []question{
		q("snakemake 7", `sinfo -o %P`, `PARTITION\nmain\*\n`),
		q("toil", `sinfo -a -o '%P %G %l %p %c %m'`, `PARTITION GRES TIMELIMIT PRIO_TIER CPUS MEMORY\nmain\* gpu:4 \S+ 1 8 4000\n`),
		q("Open OnDemand", `sinfo -aho %F/%C`, `1/1/0/2/2/14/0/16\n`),
		q("Open OnDemand", `sinfo -ahNO nodehost:100,gres:512,gresused:512,statelong`, `(n\d {98}gpu:4 +gpu:\S+ +(mixed|idle) +\n){2}`),
		q("Open OnDemand", `sinfo -ho '\x1E%c\x1F%n'`, `(\\x1E8\\x1Fn\d\n){2}`),
		q("Open OnDemand", `scontrol show part -o`, `(\w+=\S+ ?)+\n`),
		q("vpenso exporter", `sinfo -h -o %C`, `2/14/0/16\n`),
		q("vpenso exporter", `sinfo -h -o %D,%T`, `(1,(mixed|idle)\n){2}`),
		q("vpenso exporter", `sinfo -h -N -O NodeList,AllocMem,Memory,CPUsState,StateLong`, `(n\d +\d+ +4000 +\d/\d/0/8 +\w+ +\n){2}`),
		q("rivosinc exporter", `sinfo -h -o '{"s": "%T", "mem": %m}'`, `({"s": "(mixed|idle)", "mem": 4000}\n)+`),
		q("ClusterShell", `sinfo -h -o %N -p main`, `n\[1-2\]\n`),
		q("ClusterShell", `sinfo -h -N -o %T -n n2`, `(mixed|idle)\n`),
		q("TorchX", `sinfo --format %P,%m --noconvert`, `PARTITION,MEMORY\nmain\*,4000\n`),
		q("TorchX", `sinfo --version`, `slurm \d+\.\d+\.\S+\n`),
		q("NHC", `sinfo -o '%t %E' -hn n2`, `(mix|idle) none\n`),
		q("ParallelCluster", `sinfo -h -N -o %N -t powering_down`, ``),
		q("ParallelCluster", `scontrol show nodes n[1-2]`, `(NodeName=n\d .*\n( +.*\n)+\n){2}`),
		q("SkyPilot", `sinfo -h --Node -o '%N\x1f%t\x1f%G\x1f%c\x1f%m\x1f%P'`, `(n\d\\x1f(mix|idle)\\x1fgpu:4\\x1f8\\x1f4000\\x1fmain\*\n){2}`),
		q("qtoolkit", `scontrol show job -o {run}`, `JobId={run} JobName=uuid-1 .*\n`),
		q("snakemake 7", `scontrol show jobid -dd {bad}`, `(.*\n)* +JobState=FAILED (.*\n)*`),
		q("hyperqueue", `scontrol show job {run}`, `JobId={run} (.*\n)* +JobState=RUNNING (.*\n)* +StartTime=`+stamp+` (.*\n)*`),
		q("NeMo-Run", `scontrol show hostnames=n[1-3]`, `n1\nn2\nn3\n`),
		{client: "PSI/J", env: "SLURM_JOB_NODELIST=n[1-2]", args: commandLine(`scontrol show hostnames`), stdout: `n1\nn2\n`},
		q("snakemake", `scontrol show config`, `(.*\n)*MaxArraySize +=+ \d+\n(.*\n)*MinJobAge +=+ \d+ sec\n(.*\n)*`),
		q("vpenso exporter", `sdiag`, `(.*\n)*Server thread count: +\d+\n(.*\n)*\tLast cycle: +\d+\n(.*\n)*\tMean cycle: +\d+\n(.*\n)*\tCycles per minute: +\d+\n(.*\n)*\tDepth Mean: +\d+\n(.*\n)*`),
	}
}

func TestClientsGetWhatTheyParse(t *testing.T) {
	c := cluster.Up(t, "--controllers", "1", "--nodes", "2", "--cpus", "8", "--mem", "4000", "--gres", "gpu:4")
	dir := t.TempDir()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	submit := func(args ...string) string {
		return strings.TrimSpace(c.Good(dir, "sbatch", append([]string{"--parsable"}, args...)...))
	}
	run := submit("-J", "uuid-1", "-n2", "--mem", "100", "--gres=gpu:1", "--wrap", "sleep 300")
	bad := submit("--mem", "100", "-n1", "--wrap", "exit 3")
	submit("-H", "-a", "1-3", "--wrap", "true")
	held := submit("-H", "--wrap", "true")
	awaitState(t, c, run, "RUNNING")
	awaitState(t, c, bad, "FAILED")
	names := strings.NewReplacer("{run}", run, "{bad}", bad, "{held}", held, "{user}", me.Username)
	for _, list := range [][]question{queueQuestions(), acctQuestions(), clusterQuestions()} {
		for _, one := range list {
			t.Run(one.client+"/"+strings.Join(one.args, " "), func(t *testing.T) { ask(t, c, dir, &one, names) })
		}
	}
	for _, line := range []string{"squeue --json -j {run}", "squeue --json", "sinfo --json", "sacct --json -S1970-01-01-00:00:01", "sdiag --json",
		"scontrol show lic --json", "scontrol show nodes --json", "scontrol show job {run} --json", "scontrol show config --json", "scontrol ping --json"} {
		args := commandLine(names.Replace(line))
		var d map[string]any
		if err := json.Unmarshal([]byte(c.Good(dir, args[0], args[1:]...)), &d); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// ask asks one question.
func ask(t *testing.T, c *cluster.Cluster, dir string, one *question, names *strings.Replacer) {
	if command := strings.Join(one.args, " "); os.Geteuid() != 0 && (strings.Contains(command, "nodehost") || strings.Contains(command, "%n")) {
		t.Skip("needs root: without it the nodes have no host names of their own")
	}
	args := make([]string, len(one.args))
	for i, a := range one.args {
		args[i] = names.Replace(a)
	}
	if one.env != "" {
		name, value, _ := strings.Cut(one.env, "=")
		t.Setenv(name, value)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := c.Run(ctx, dir, "", args[0], args[1:]...)
	want := regexp.MustCompile(`\A(?:` + names.Replace(one.stdout) + `)\z`)
	if !want.MatchString(o.Stdout) || o.Code != one.code || o.Stderr != one.stderr {
		t.Errorf("%s: exit code %d\nstdout %q\n  want %q\nstderr %q\n  want %q", strings.Join(args, " "), o.Code, o.Stdout, want, o.Stderr, one.stderr)
	}
}

// awaitState asks until a job is in a state. Commands have no event to wait for.
func awaitState(t *testing.T, c *cluster.Cluster, id, state string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		got := strings.TrimSpace(c.Good(os.TempDir(), "squeue", "-h", "-t", "all", "-j", id, "-o", "%T"))
		if got == state {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("job %s is %s, not %s, after a minute", id, got, state)
		}
	}
}
