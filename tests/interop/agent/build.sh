#!/bin/sh
# Builds the Java agent of the interop tests: Redisson 4.7.0 behind a line protocol.
# SPDX-License-Identifier: Apache-2.0
#
# Contract:  tests/interop/agent/build.sh <outdir>
#   exit 0   <outdir>/agent is there and runs; nothing was printed. Does nothing when it is newer
#            than the sources, so it may be called on every build.
#   exit 77  it cannot be had here (no JDK, no maven, or Maven Central out of reach): one line on
#            stderr says which. The caller skips interop, loudly; under CI it fails instead.
#   exit 1   the sources do not compile: maven's output on stderr.
# tests/interop/prepare calls it with $B/agent. The tests find the launcher there, through
# RLOCK_BUILD=$B in their environment, or by RLOCK_AGENT=<path of a launcher>; they run from the top
# of the tree. Without a launcher, tests that need Java report themselves as skipped, and fail when
# CI is set.
# <outdir> belongs to this script; it writes nowhere else but into maven's own local repository.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 <outdir>" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)

if [ -x "$out/agent" ] &&
   [ -z "$(find "$here" -type f -newer "$out/agent" ! -name '.*' | head -n 1)" ]; then
    exit 0
fi

unavailable() { echo "interop: $1" >&2; exit 77; }
command -v java >/dev/null && command -v javac >/dev/null || unavailable "no JDK here (Debian: default-jdk-headless)"
command -v mvn >/dev/null || unavailable "no maven here (Debian: maven)"

build() {
    mvn -q -B "$@" -f "$here/pom.xml" -Doutdir="$out" -DoutputDirectory="$out/lib" \
        -DincludeScope=runtime dependency:copy-dependencies compiler:compile >"$out/maven.log" 2>&1
}
rm -rf "$out/agent" "$out/agent.jar" "$out/classes" "$out/lib" "$out/agent.jsa"
if ! build -o && ! build; then
    # Only when the libraries are all there can it be the sources.
    [ -e "$out/lib/redisson-4.7.0.jar" ] && [ -e "$out/lib/slf4j-nop-2.0.17.jar" ] &&
        grep -q 'COMPILATION ERROR' "$out/maven.log" && { cat "$out/maven.log" >&2; exit 1; }
    unavailable "Redisson could not be downloaded from Maven Central; see $out/maven.log"
fi

jar --create --file "$out/agent.jar" -C "$out/classes" . # an archive of classes (archive.sh) has only those of jars

# Light and quick to start: the first compiler tier alone, a small heap, one collector thread. Arguments are further options
# of the JVM.
cat >"$out/agent.new" <<\END
#!/bin/sh
here=${0%/*}
classes=$here/agent.jar # and the libraries, always in the same order, as the archive wants it
for jar in "$here"/lib/*.jar; do
    classes=$classes:$jar
done
[ ! -e "$here/agent.jsa" ] || set -- "-XX:SharedArchiveFile=$here/agent.jsa" "$@"
exec java -Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -XX:-UsePerfData "$@" \
    -cp "$classes" org.rlock.agent.Agent
END
chmod +x "$out/agent.new"
mv "$out/agent.new" "$out/agent"
