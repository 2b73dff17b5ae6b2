#!/bin/sh
# The demo: starts a cluster of three controllers and four nodes on this machine,
# runs the examples on it, shows what the commands print, checks the results and
# stops everything. It works as root and as an ordinary user; make demo builds
# first and sets BIN.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${BIN:?BIN is not set; run make demo}"

dir=$(mktemp -d "${TMPDIR:-/tmp}/muster-demo.XXXXXX")
mkdir "$dir/work"
finish() {
	code=$?
	trap - EXIT INT TERM
	"$BIN/muster" dev down --dir "$dir/c" || code=1
	if [ "$code" = 0 ]; then
		rm -rf "$dir"
		echo "The demo went well."
	else
		echo "The demo failed; files and logs are in $dir." >&2
	fi
	exit "$code"
}
trap finish EXIT INT TERM

# until_true waits up to ten seconds for a condition.
until_true() {
	tries=100
	until "$@" || [ "$tries" = 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
}
queue_filled() { [ "$(squeue -h | wc -l)" -ge 3 ]; }
hello_said() { [ -s hello.txt ]; }

say() { printf '\n== %s\n' "$*"; }
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

say "three controllers, four nodes"
"$BIN/muster" dev up --dir "$dir/c" --controllers 3 --nodes 4 --cpus 4 --mem 2000 --gres gpu:a100:2
eval "$("$BIN/muster" dev env --dir "$dir/c")"
cd "$dir/work"
show sinfo
show scontrol ping

say "six examples (one waits for its time limit of a minute)"
pids=
for example in timelimit pi nodes python gpu memory; do
	"$here/$example/check" > "$example.log" 2>&1 &
	pids="$pids $example:$!"
done

until_true queue_filled
show squeue

say "a job by hand, while they run"
show sbatch --job-name=hello --output=hello.txt --wrap 'echo "hello from job $SLURM_JOB_ID on $SLURMD_NODENAME"'
until_true hello_said
show cat hello.txt
show scontrol show job "$(sacct -X -n -P -o JobID --name hello)"

bad=0
for pair in $pids; do
	wait "${pair#*:}" || bad=1
done
say "results"
cat ./*.log
show squeue
show sacct -X
[ "$bad" = 0 ]
