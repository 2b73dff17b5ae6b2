package differ

import (
	"slices"
	"strings"

	"muster/api/slurm"
)

// form is a kind of value: texts that are valid and texts at or over the edge,
// separated by |. A text with a bar in it has ¦ there.
type form struct{ good, odd string }

func list(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.Split(s, "|")
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "¦", "|")
	}
	return out
}

// The kinds that several options share.
var (
	counts = form{"1|2|4", "8|9|0|-1|abc|1.5|65532|65533|65534|65535|65536|2147483647|4294967296|99999999999|99999999999999999999| 2|2 |1k|+1|0x2|1,2|1-2|2x"}
	sizes  = form{"100|1G|512M", "1|0|-1|abc|1K|1025K|1M|1T|1P|1g|1k|1gb|1MB|1KB|1B|1GiB|1.5G|4000|4001|5G| 100|100 |1 G|99999999999999999999|9223372036854775807|4294967295|0G|G|1GG"}
	spans  = form{"5|1:30:00|0-2", "0|1|10|0:30|1:30|1-12|1-12:30|1-0:0:1|infinite|UNLIMITED|Unlimited|-1|abc|1h|5m|1:2:3:4|1-1:1:1:1|1.5|1440|1441|2147483647|4294967294|99999999999|00:00:00|0:61|1:60:60| 5|5 |-5|1-|365-0|:5|5:|1::1|now|1 2"}
	gpus   = form{"1|2", "4|5|8|16|17|0|-1|abc|1k|gpu:1|gpu|gpu:gpu:1|a100:1|a100|1,2|a:b:c|1.5| 1|1 |:1|1:|gpu=1|99999999999999999999"}
	names  = form{"abc|a_b-c", "a b| a|a |a,b|0|-1|a%jb|a=b|ä|a'b|a\"b|a\\b|a/b|ABC"}
	files  = form{"out.txt|sub/%j.out|/dev/null", "none|None|%x-%j|%A_%a|%u/%N|%%j|%10j|%3a|%q|a b|/abs/%J.%t|%|trailing%|../up|~/x|./d/%s.%n"}
	lists  = form{"n1|n[1-2]|n1,n2", "n3|n4|n9|n[1-9]|n[1-|n1,|,n1|n1,,n2|n1,n1|N1|n[2,1]|n01|a b|[1-2]|n[1-4]|./nodes.txt|/nonexistent| n1"}
	times  = form{"now+1hour|2035-06-01T10:00:00|2036-01-01", "now|now+120|now+2days|now+1week|now-1hour|now+1hours|now+|now+x|now +1hour|NOW+1HOUR|2020-01-01|2035-13-01|2035-02-30|2035-06-01T25:00|2035-06-01T10:00|abc|0|-1|uts1900000000|uts12|2035-06-01 10:00|now+99999999999|2035-06-01T10:00:00Z|2035/06/01|2035-6-1"}
	flags  = form{"", "yes|no|1|0|abc"}
)

// forms says which kind of value an option has; an option that is missing has a
// name as its value.
var forms = map[string]form{
	"account":             {"phys", "bio|nosuch|PHYS| phys|phys,bio|root"},
	"array":               {"0-3|1,3,5|1-9:2%2", "0|7|1-3,2|0-1000|0-1001|1001|0-4000000|3-1|%2|1%0|1-3%|a|-1|1-|[1-3]|1-3:0|1-10:3|01-03|1,1|1 ,2|1-3%99999|1:2| 1-3|1--3|1-3%2%1|1_3|4294967296"},
	"begin":               times,
	"deadline":            times,
	"bb":                  names,
	"chdir":               {"/tmp|sub", "/nonexistent|.|..|a b|/tmp/|//tmp|~"},
	"clusters":            {"conform", "nosuch|conform,nosuch|all|CONFORM| conform"},
	"comment":             names,
	"constraint":          {"fast|rack1|fast&rack1", "slow|fast|nosuch|fast&slow|[rack1*1&rack2*1]|fast,rack1|fast¦slow|fast*2|[fast¦slow]|(fast&rack1)|&fast|fast&|fast*|a b|FAST|!fast|fast:2|[fast*2¦slow*1]|[rack1*2&rack2*3]"},
	"core-spec":           counts,
	"cores-per-socket":    {counts.good, counts.odd + "|2-4|*"},
	"cpus-per-gpu":        counts,
	"cpus-per-task":       counts,
	"dependency":          {"afterok:@JOB@|afterany:@JOB@:@ARRAY@|singleton", "after:@JOB@|after:@JOB@+5|after:@JOB@+x|aftercorr:@ARRAY@|aftercorr:@JOB@|afternotok:@ARRAY@_1|afterok:@ARRAY@_9|afterok:@ARRAY@_*|afterok:999999|@JOB@|0|abc|afterok|afterok:|afterok:0|afterok:-1|AFTEROK:@JOB@|Singleton|afterok:@JOB@,afterany:@ARRAY@|afterok:@JOB@?afterany:@ARRAY@|afterok:@JOB@,singleton?afterany:@ARRAY@|expand:@JOB@|bogus:@JOB@|afterok:@JOB@,|,afterok:@JOB@|afterok:@JOB@,afterok:@JOB@|afterok:@JOB@:x|afterok:@JOB@ |afterburstbuffer:@JOB@|singleton:@JOB@|afterok:4294967296|afterok:@JOB@(failed)"},
	"distribution":        {"block|cyclic|plane=2", "arbitrary|block:cyclic|cyclic:block:fcyclic|*:block|*|block,NoPack|block,Pack|plane|plane=0|plane=x|plane=|bogus|BLOCK|block:bogus|block:block:block:block|pack|nopack|block,pack,nopack|unknown|plane=2:block|fcyclic"},
	"exclude":             lists,
	"nodelist":            lists,
	"exclusive":           {"user|", "exclusive|mcs|topo|oversubscribe|allocation|no|USER|bogus|0"},
	"export":              {"ALL|NONE|PATH,FOO=1", "NIL|all|none|nil|ALL,FOO=1|FOO=a b|FOO=\"a,b\",BAR=2|=1|FOO=|,|NOSUCH|A-B=1|1A=2|NONE,FOO=1|ALL,|FOO='a,b'|FOO"},
	"export-file":         {"env.bin", "nosuch.bin|0|2|99|/dev/null"},
	"extra":               {"a=1|text", "{\"a\":1}|a b|a=1&b=2"},
	"extra-node-info":     {"1|1:8|1:8:1", "2|*|1:*|1:*:1|0|-1|1:0|abc|1:2:3:4|1-2|1-|1:|:1|1:abc|65535|99999"},
	"gpu-bind":            {"closest|single:1|none", "map_gpu:0,1|mask_gpu:0x1|verbose,closest|per_task:1|bogus|single:0|single|map_gpu:|CLOSEST|single:x|quiet"},
	"gpus":                gpus,
	"gpus-per-node":       gpus,
	"gpus-per-socket":     gpus,
	"gpus-per-task":       gpus,
	"gres":                {"gpu:1|gpu:2|gpu", "gpu:4|gpu:5|gpu:0|gpu:-1|gpu:a100:1|gpu:1k|none|NONE|gpu:|:1|gpu=1|gres/gpu:1|gres:gpu:1|gpu:1,gpu:1|gpu:1,gpu:2|fpga:1|gpu:x|gpu:1:1|gpu:1.5|gpu |a b|gpu:1,|gpu,gpu|GPU:1|gpu:01|license/foo:1|craynetwork:1"},
	"gres-flags":          {"disable-binding|enforce-binding", "multiple-tasks-per-sharing|one-task-per-sharing|allow-task-sharing|bogus|DISABLE-BINDING|disable-binding,enforce-binding|disable-binding,|none"},
	"hint":                {"compute_bound|nomultithread", "memory_bound|multithread|bogus|COMPUTE_BOUND|help|nomultithread,compute_bound|none"},
	"error":               files,
	"input":               files,
	"output":              files,
	"kill-on-invalid-dep": {"yes|no", "YES|y|n|1|0|abc|true"},
	"licenses":            {"foo|foo:2|foo:1,bar:1", "foo:4|foo:5|nosuch|nosuch:1|foo:0|foo:-1|foo:x|foo=1|foo,foo|foo:1|foo:1,foo:1|FOO|foo:|:1|foo;bar|foo:1;bar:1|foo:1,|foo@x:1|foo:1.5|foo 1|foo:99999999999"},
	"mail-type":           {"NONE|END,FAIL|ALL", "begin|BEGIN,bogus|bogus|ARRAY_TASKS|ARRAY_TASKS,END|TIME_LIMIT_50,TIME_LIMIT_80|TIME_LIMIT_90|TIME_LIMIT|STAGE_OUT|REQUEUE|INVALID_DEPEND|NONE,END|END,NONE|END FAIL| END|END,|ALL,NONE"},
	"mail-user":           {"a@example.org|bob", "a b|@|a@b@c|a,b"},
	"mem":                 sizes,
	"mem-per-cpu":         sizes,
	"mem-per-gpu":         sizes,
	"tmp":                 sizes,
	"mincpus":             counts,
	"nice":                {"10|0|", "-1|100|-100|2147483645|2147483646|-2147483645|-2147483646|abc|1.5|+5| 5|99999999999"},
	"no-kill":             {"off|", "no|set|yes|OFF|bogus"},
	"nodefile":            {"./nodes.txt", "nosuch.txt|/dev/null"},
	"nodes":               {"1|2|1-2", "4|5|0|2-1|1-|-2|1-4:2|1,3|2,1|1k|a|1.5|-1| 2|1-2-3|1-4k|1-4:0|1-8:3|2-2|0-2|99999999|100000000000|1,|1-4,2|4-|1:2|3,a|2m|1 - 2"},
	"ntasks":              {"1|2|8", counts.odd + "|32|33|2147483646"},
	"ntasks-per-core":     counts,
	"ntasks-per-gpu":      counts,
	"ntasks-per-node":     counts,
	"ntasks-per-socket":   counts,
	"tasks-per-node":      counts,
	"open-mode":           {"append|truncate", "a|t|APPEND|app|bogus|w"},
	"partition":           {"debug|short|debug,short", "down|nosuch|debug,nosuch|nosuch,debug|debug,down|debug,debug|DEBUG|debug,|,debug| debug|a b|*|all"},
	"prefer":              {"fast|slow", "nosuch|fast&slow|fast¦rack1|fast*2|[fast¦slow]|a b"},
	"priority":            {"0|1000", "-1|4294967293|4294967294|4294967295|99999999999|abc|TOP|top|1.5| 5"},
	"profile":             {"none", "all|energy|task|None|none,task|bogus|NONE"},
	"propagate":           {"ALL|NONE|CORE,NPROC|", "all|none|STACK|bogus|CORE,bogus|RLIMIT_CORE|core|NOFILE,|ALL,CORE"},
	"qos":                 {"normal", "nosuch|NORMAL|normal,nosuch|normal,normal| normal"},
	"requeue":             {"", "expedite|yes|no|bogus"},
	"reservation":         {"nosuch", "a,b|nosuch,|a b"},
	"signal":              {"USR1@90|B:TERM@300|15", "USR1|SIGUSR1|usr1@10|R:USR1@60|BR:INT|B:|X:USR1|USR1@|USR1@x|USR1@65535|USR1@65536|USR1@-1|0|0@10|64|65|99|-1|abc|KILL@0|USR1@1:00|BB:USR1|:USR1|HUP@60 |RTMIN|SEGV"},
	"sockets-per-node":    {counts.good, counts.odd + "|1-2|*"},
	"switches":            {"1|1@10|2@1:00", "0|-1|abc|1@|1@x|1@0|@10|1@1-0|1@-1|99999|1@infinite|1.5|1@10@10|4294967296"},
	"thread-spec":         counts,
	"threads-per-core":    counts,
	"time":                spans,
	"time-min":            spans,
	"tres-per-task":       {"cpu=1|cpu=2,gres/gpu=1|gres/gpu:1", "cpu:2|cpu|cpu=0|cpu=x|cpu=-1|gpu=1|gres/gpu|gres/gpu=0|mem=100|mem=1G|license/foo=1|bogus=1|cpu=1,cpu=2|cpu=1,|node=1|gres/gpu:a100:1|gres:gpu:1|cpu=1 gres/gpu=1|billing=1|CPU=1|gres/fpga=1"},
	"uid":                 {"daemon", "root|0|1|nosuchuser|-1"},
	"gid":                 {"daemon", "root|0|1|nosuchgroup|-1"},
	"wait-all-nodes":      {"0|1", "2|-1|abc|yes|1.5|99999999999| 1"},
	"wckey":               {"key", "*key|a b|a,b"},
	"wrap":                {"hostname|true", "a 'b' \"c\"|exit 3; # x"},
	"delay-boot":          spans,
	"segment":             counts,
	"oom-kill-step":       {"1|0|", "2|yes"},
	"resv-ports":          {"1|", "0|abc"},
}

// valueForm gives the kind of an option's value.
func valueForm(name string) form {
	if f, ok := forms[name]; ok {
		return f
	}
	return names
}

// values are all values that an option is given.
func values(name string) []string {
	f := valueForm(name)
	return slices.Concat(list(f.good), list(f.odd))
}

// someValues are the ones that are written in every spelling: two that are good
// and one that is odd.
func someValues(o slurm.Option) []string {
	if o.Arg == slurm.NoArg {
		return []string{""}
	}
	f := valueForm(o.Name)
	out := list(f.good)
	if len(out) > 2 {
		out = out[:2]
	}
	if odd := list(f.odd); len(odd) > 0 {
		out = append(out, odd[0])
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

// pairValues are the values that an option has in pairs.
func pairValues(o slurm.Option) []string {
	if good := list(valueForm(o.Name).good); o.Arg != slurm.NoArg && len(good) > 0 {
		return good
	}
	return []string{""}
}
