#!/bin/sh
# Lists the public methods of Redisson's lock API, read from its own classes, one a line as Interface.method(types).
# SPDX-License-Identifier: Apache-2.0
#
# Contract:  tests/interop/inventory/methods.sh <folder of jars>
# The interfaces are those that RedissonClient's methods for locks, semaphores and latches return, their options, and all
# that these extend; of RedissonClient itself those methods and the ones about its own life.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 <folder of jars>" >&2; exit 2; }
jars=$(printf '%s:' "$1"/*.jar)
api=org.redisson.api
work=$(mktemp)
trap 'rm -f "$work"' EXIT

# Prints what javap says about the public parts of the classes "$@"; a JVM a call, so all at once.
look() {
    javap -J-XX:TieredStopAtLevel=1 -cp "$jars" -public "$@" | grep -v '^Compiled from'
}
# Prints the methods in what javap said, each under the name of its interface without packages.
methods() {
    sed -E 's/<[^<>]*>//g; s/<[^<>]*>//g; s/[a-z]+(\.[A-Za-z]+)*\.([A-Z])/\2/g' |
        sed -n -e 's/^[a-z ]*\(interface\|class\) \([^ ]*\).*/=\2/p' \
            -e 's/^  public .*[ .]\([A-Za-z]*\)(\(.*\))\( throws .*\)\{0,1\};$/\1(\2)/p' |
        awk '/^=/ { type = substr($0, 2); next } { gsub(/,/, ", "); gsub(/,  /, ", "); print type "." $0 }'
}
look $api.RedissonClient >"$work"
methods <"$work" | grep -E '\.(get[A-Za-z]*(Lock|Semaphore|Latch)|(is)?[sS]hut[A-Za-z]*|getId)\('
# What those methods return and take, and what that extends, until nothing new comes.
known=
new=$(grep -E ' get[A-Za-z]*(Lock|Semaphore|Latch)\(' "$work" | grep -oE "org\.redisson\.api\.[A-Za-z.\$]+" |
    grep -E '(Lock|Semaphore|Latch|Options(\$BackOff)?)$' | sort -u)
: >"$work"
while [ -n "$new" ]; do
    known="$known $new"
    said=$(look $new)
    printf '%s\n' "$said" >>"$work"
    new=$(printf '%s\n' "$said" | sed -n 's/^public interface .* extends \(.*\) {$/\1/p' |
        grep -oE "org\.redisson\.api\.[A-Za-z.\$]+" | sort -u | while read -r class; do
        case " $(echo $known) " in *" $class "*) ;; *) echo "$class" ;; esac
    done)
done
# What implements a back-off is named by nobody; and Java's own Lock, which all are.
look $(jar tf "$(echo "$1"/redisson-[0-9]*.jar)" | grep -o 'org/redisson/api/LockOptions\$.*\.class' |
    sed 's/\.class$//' | tr / .) java.util.concurrent.locks.Lock >>"$work"
methods <"$work" | sort -u
