# What the build.sh of each contestant that is not written in C begins with. It has set `who`, and `here` to its folder.
# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# B=<build folder> tests/bench/contestants/<folder>/build.sh
#   exit 0   $B/tests/bench/contestants/<who> is there and runs; its parts are in contestants/parts/<who>.
#   exit 77  it cannot be had here; stderr says why, in a line.
#   exit 1   its sources are wrong.
set -eu
B=${B:-build}
mkdir -p "$B/tests/bench/contestants/parts/$who"
launcher=$(cd "$B/tests/bench/contestants" && pwd)/$who
parts=$(dirname "$launcher")/parts/$who

unavailable() { rm -f "$launcher"; echo "bench: $who: $1" >&2; exit 77; } # also one that was available once
# Whether the launcher is newer than all that is in these.
is_new() { [ -x "$launcher" ] && [ -z "$(find "$@" -type f -newer "$launcher" ! -name '.*' | head -n 1)" ]; }
quoted() { # as one word of the shell
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}
# The launcher is the last that is made: a shell script with such a command.
launch() {
    printf '#!/bin/sh\nexec %s\n' "$1" >"$parts/launcher"
    chmod +x "$parts/launcher"
    mv "$parts/launcher" "$launcher"
}
# Makes the launcher of contestant.c and a library: compile PKG-CONFIG-NAME DEBIAN-PACKAGE. The rest is in support.a.
compile() {
    support=$B/tests/bench/support.a
    ! is_new "$here" "$support" || exit 0
    rm -f "$launcher"
    pkg-config --exists "$1" || unavailable "no $1 here (Debian: $2)"
    # shellcheck disable=SC2046,SC2086 # words
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -I"$here/../../../.." \
        $(pkg-config --cflags "$1") -o "$parts/contestant" "$here/contestant.c" "$support" $(pkg-config --libs "$1") -lpthread
    mv "$parts/contestant" "$launcher"
}
# Makes the launcher of a Peer in Java: fetch_and_compile CLASS, with the libraries of pom.xml in $lib and the classes in $parts/classes.
fetch_and_compile() {
    lib=$parts/lib
    command -v javac >/dev/null || unavailable "no JDK here (Debian: default-jdk-headless)"
    command -v mvn >/dev/null || unavailable "no Maven here (Debian: maven)"
    rm -rf "$launcher" "$lib" "$parts/classes"
    fetch() {
        mvn -q -B "$@" -f "$here/pom.xml" -DoutputDirectory="$lib" -DincludeScope=runtime dependency:copy-dependencies
    }
    fetch -o >"$parts/maven.log" 2>&1 || fetch >"$parts/maven.log" 2>&1 ||
        unavailable "Maven Central did not give it ($parts/maven.log)"
    javac --release 17 -Xlint:all,-processing,-classfile -Werror -cp "$lib/*" -d "$parts/classes" "$here"/*.java "$here"/../java/*.java
    class=$1
    shift
    launch "java $* -cp $(quoted "$parts/classes:$lib/*") org.rlock.bench.PeerContestant $class"
}
# Makes the program that runs the server, before the launcher: serve ARGUMENT, as servers/serve.py wants it.
serve() {
    [ -x /usr/bin/python3 ] || unavailable "no Debian Python here, which starts its server (Debian: python3)"
    command -v setpriv >/dev/null || unavailable "no setpriv here, which starts its server (Debian: util-linux)"
    server=$(dirname "$launcher")/serve-$who
    printf '#!/bin/sh\nexec /usr/bin/python3 %s %s %s\n' "$(quoted "$here/../../servers/serve.py")" "$who" "$(quoted "$1")" >"$server.new"
    chmod +x "$server.new"
    mv "$server.new" "$server"
}
# The path of a program that a server is: installed, or as tests/support/deps.sh has unpacked it, there called as in Debian.
program() {
    unpacked=$(cd "$B" && pwd)/bin/servers
    for each in "$(command -v "$1")" "$unpacked/usr/bin/$1" /usr/lib/postgresql/*/bin/"$1" "$unpacked"/usr/lib/postgresql/*/bin/"$1"; do
        [ ! -x "$each" ] || { printf '%s' "$each"; return; }
    done
}
