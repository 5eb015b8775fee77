#!/bin/sh
# Makes an archive of the classes that the agent loads, which saves half of the processor time of its start: it is done for
# each test. Needs a redis-server, against which the agent opens and uses one object of each kind.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/interop/agent/archive.sh <outdir of build.sh>
# Leaves <outdir>/agent.jsa. Does nothing when that is newer than the agent. Without it the agent is only slower, so a
# failure is told in one line, and is none of the caller's.
set -u

out=$1
[ ! "$out/agent.jsa" -nt "$out/agent" ] || exit 0
rm -f "$out/agent.jsa"
dir=$(mktemp -d) || exit 0
server='' jvm=''
finish() {
    trap - EXIT
    exec 8>&-
    for pid in $jvm $server; do
        kill "$pid" 2>/dev/null
        wait "$pid"
    done
    rm -rf "$dir"
    exit "$1"
}
trap 'finish 0' EXIT
trap 'finish 129' HUP
trap 'finish 130' INT
trap 'finish 143' TERM
fail() { echo "interop: no archive of the agent's classes, so it starts more slowly: $1" >&2; exit; }

serve() { # port; false: it did not come up there
    redis-server --port "$1" --save '' --dir "$dir" >"$dir/server" 2>&1 &
    server=$!
    until redis-cli -p "$1" get started 2>/dev/null | grep -q '^$'; do
        kill -0 $server 2>/dev/null || return 1
        sleep 0.02
    done
}
command -v redis-server >/dev/null || fail "no redis-server here"
port=$((20000 + $$ % 20000))
last=$((port + 50))
until serve $port; do
    port=$((port + 1))
    [ $port -lt $last ] || fail "redis-server does not start: $(tail -n 1 "$dir/server")"
done

mkfifo "$dir/in" || fail "no pipe"
"$out/agent" "-XX:ArchiveClassesAtExit=$dir/agent.jsa" -Xlog:disable <"$dir/in" >"$dir/answers" 2>"$dir/errors" &
jvm=$!
exec 8>"$dir/in"
tag=0
say() { # words of a command; waits for its answer
    tag=$((tag + 1))
    echo "$tag $*" >&8
    until grep -q "^$tag " "$dir/answers"; do
        kill -0 $jvm 2>/dev/null || fail "the agent ended: $(head -n 1 "$dir/errors")"
        sleep 0.02
    done
    ! grep "^$tag .* threw " "$dir/answers" >"$dir/threw" || fail "$(cat "$dir/threw")"
}
say agent open "redis%3A%2F%2F127.0.0.1%3A$port"
for kind in lock fair spin nonreentrant nonreentrantfair read write fenced multi; do
    say t1 $kind $kind lock
    say t2 $kind $kind try 20 -1
    [ $kind = multi ] || say t2 $kind $kind isLocked
    say t1 $kind $kind unlock
done
say t1 semaphore semaphore trySet 1
say t1 semaphore semaphore acquire 1
say t1 semaphore semaphore release 1
say t1 permits permits trySet 1
say t1 permits permits acquire 1
say t1 latch latch trySet 1
say t1 latch latch countDown
exec 8>&-
wait $jvm
jvm=
[ -s "$dir/agent.jsa" ] && mv "$dir/agent.jsa" "$out/agent.jsa.new" && mv "$out/agent.jsa.new" "$out/agent.jsa" ||
    fail "the JVM made none"
