#!/bin/sh
# Measures a cluster of three controllers and four nodes on this host. Numbers
# mean something only where nothing else runs; what the host did is printed.
#
#   BIN    directory of the programs (make bench sets it)
#   BENCH  another program to run on the cluster instead of test/bench; it finds the
#          commands in BENCH_BIN and the daemons, as name:pid,..., in BENCH_PIDS
#
# Arguments go to the program: -jobs 10000.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${BIN:?BIN is not set; run make bench}"

dir=$(mktemp -d /tmp/muster-bench.XXXXXX)
chmod 755 "$dir"
# The processes are found by their programs, so the cluster has its own copy.
cp -a "$BIN" "$dir/bin"
finish() {
	code=$?
	trap - EXIT INT TERM
	"$dir/bin/muster" dev down --dir "$dir/c" || code=1
	rm -rf "$dir"
	exit "$code"
}
trap finish EXIT INT TERM

(cd "$here/../.." && "${GO:-go}" build -o "$dir/bench" ./test/bench)
"$dir/bin/muster" dev up --dir "$dir/c" --controllers 3 --nodes 4 --cpus 8
eval "$("$dir/bin/muster" dev env --dir "$dir/c")"
echo "host: $(nproc) CPUs, Linux $(uname -r), load before: $(cut -d' ' -f1-3 /proc/loadavg)"
if [ -z "${BENCH:-}" ]; then
	"$dir/bench" -programs "$dir/bin" "$@"
else
	BENCH_BIN=$dir/bin
	BENCH_PIDS=
	for exe in /proc/[0-9]*/exe; do
		pid=${exe#/proc/} pid=${pid%/exe}
		case $(readlink "$exe" || true) in
		"$dir/bin/muster-shepherd") BENCH_PIDS=$BENCH_PIDS,shepherd-$pid:$pid ;;
		"$dir/bin/musterd") BENCH_PIDS=$BENCH_PIDS,$(tr '\0' ' ' <"/proc/$pid/cmdline" | sed 's/^[^ ]* \([a-z]*\) --name \([^ ]*\) .*/\1-\2/'):$pid ;;
		esac
	done
	BENCH_PIDS=${BENCH_PIDS#,}
	export BENCH_BIN BENCH_PIDS
	"$BENCH" "$@"
fi
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
