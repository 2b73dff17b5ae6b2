# What the checks of the examples share. A check sets `example` to the directory
# it lies in and reads this file; it is then in a fresh directory that holds the
# example's files.

work=$(mktemp -d "$PWD/muster-example-$(basename "$example").XXXXXX")
cp "$example"/* "$work"/
cd "$work" || exit 1

# fail says what is wrong and leaves the directory for a look.
fail() {
	echo "FAIL $(basename "$example"): $*" >&2
	echo "     files are in $work" >&2
	exit 1
}

# passed ends a check that went well.
passed() {
	echo "ok   $(basename "$example"): $*"
	cd / && rm -rf "$work"
	exit 0
}

# submit runs sbatch and prints the job's id.
submit() {
	id=$(sbatch --parsable "$@") || fail "sbatch $* was refused"
	echo "${id%%;*}"
}

# states prints the state of each record of a job, one a line.
states() { sacct -X -n -P -o State -j "$1"; }

# await waits until accounting has the end of a job (of each task of an array),
# at most $2 seconds, and fails if it ended in another state than $3.
await() {
	tries=$(($2 * 4))
	while :; do
		seen=$(states "$1") || fail "sacct does not answer"
		case "$seen" in
		"" | *PENDING* | *RUNNING* | *COMPLETING* | *REQUEUED* | *SUSPENDED*) ;;
		*) break ;;
		esac
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "job $1 is still '$seen' after $2 s"
		sleep 0.25
	done
	for s in $(echo "$seen" | cut -d' ' -f1); do
		[ "$s" = "$3" ] || fail "job $1 ended as $s, not as $3"
	done
}

# same compares a value with what it should be.
same() { [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"; }
