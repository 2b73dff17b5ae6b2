#!/bin/sh
# Runs the black-box conformance suite on a cluster of its own. It needs root,
# since the suite becomes alice and bob, and a host where nothing else runs.
#
#   BIN              directory of the programs (make conformance sets it)
#   CONFORMANCE_DIR  directory of the suite
#
# Arguments go to the suite: --only 'ARR*', -j 2.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${BIN:?BIN is not set; run make conformance}"
: "${CONFORMANCE_DIR:?CONFORMANCE_DIR is not set; run make conformance}"

if [ "$(id -u)" != 0 ]; then
	echo "conformance: root is needed" >&2
	exit 1
fi
if [ ! -x "$CONFORMANCE_DIR/run" ]; then
	echo "conformance: no suite in $CONFORMANCE_DIR; set CONFORMANCE_DIR" >&2
	exit 1
fi
for user in alice bob; do
	id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$user"
done

dir=$(mktemp -d /tmp/muster-conformance.XXXXXX)
chmod 755 "$dir"
# Other users have to reach the programs, and a build meanwhile must not change them.
cp -a "$BIN" "$dir/bin"
chmod 755 "$dir/bin"
finish() {
	code=$?
	trap - EXIT INT TERM
	"$dir/bin/muster" dev down --dir "$dir/c" || code=1
	if [ "$code" = 0 ]; then rm -rf "$dir"; else echo "conformance: logs are in $dir" >&2; fi
	exit "$code"
}
trap finish EXIT INT TERM

"$dir/bin/muster" dev up --dir "$dir/c" --conf "$here/cluster.toml"
eval "$("$dir/bin/muster" dev env --dir "$dir/c")"
# The suite expects alice in phys and bob in bio.
"$dir/bin/sacctmgr" -i -Q add account phys bio
"$dir/bin/sacctmgr" -i -Q add user alice account=phys
"$dir/bin/sacctmgr" -i -Q add user bob account=bio
"$CONFORMANCE_DIR/run" --bin "$dir/bin" "$@"
