#!/bin/sh
# Builds $1/spring: the Spring service of docs/examples/spring. Exits as agent/build.sh.
# SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")/../../../docs/examples/spring" && pwd)
mkdir -p "$1/spring.d"
out=$(cd "$1" && pwd)
[ ! -x "$out/spring" ] || [ -n "$(find "$here" -type f -newer "$out/spring" | head -n 1)" ] || exit 0
unavailable() { echo "interop: $1" >&2; exit 77; }
command -v javac >/dev/null || unavailable "no JDK here (Debian: default-jdk-headless)"
command -v mvn >/dev/null || unavailable "no maven here (Debian: maven)"
build() {
    mvn -q -B "$@" -f "$here/pom.xml" -Doutdir="$out/spring.d" -DoutputDirectory="$out/spring.d/lib" \
        -DincludeScope=runtime dependency:copy-dependencies compiler:compile >"$out/spring.log" 2>&1
}
rm -rf "$out/spring" "$out/spring.d"
if ! build -o && ! build; then
    grep -q 'COMPILATION ERROR' "$out/spring.log" && { cat "$out/spring.log" >&2; exit 1; }
    unavailable "could not download Spring from Maven Central; see $out/spring.log"
fi
cat >"$out/spring.new" <<\END
#!/bin/sh
here=${0%/*}/spring.d
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -XX:-UsePerfData -Dredisson.yaml="$1" \
    -cp "$here/classes:$here/lib/*" example.Application "$2" "$3"
END
chmod +x "$out/spring.new"
mv "$out/spring.new" "$out/spring"
