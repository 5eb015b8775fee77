#!/bin/sh
# deb-test.sh FOLDER [SUITE…]: builds the Debian packages in a bare chroot of each suite (bookworm and trixie), installs them
# in another, and uses them there as their users do: the command, a program built with pkg-config and one with CMake, a
# manual page, an example of the documentation; then removes them. Needs root and mmdebstrap; the chroots are in FOLDER
# meanwhile.
# SPDX-License-Identifier: Apache-2.0
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- bookworm trixie
[ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null || {
    echo "This needs root and mmdebstrap: apt-get install mmdebstrap" >&2
    exit 1
}
mirror=${MIRROR:-http://deb.debian.org/debian}
built=$work/builder
bare=$work/bare
clean() { rm -rf --one-file-system "$built" "$bare"; }
trap clean EXIT
trap 'exit 1' HUP INT TERM

say() { printf '%s: %s\n' "$suite" "$1"; }
inside() { # folder, then a script
    chroot "$1" /bin/sh -euc "export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8; $2" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        echo "$suite: failed: $2" >&2
        exit 1
    }
}

for suite; do
    clean
    say "building the packages in a chroot"
    mmdebstrap --quiet --variant=minbase --include=build-essential,debhelper,fakeroot,lintian,libhiredis-dev,libssl-dev,libyaml-dev,pkg-config,uuid-dev \
        "$suite" "$built" "$mirror"
    mkdir "$built/tree"
    (cd "$top" && tar -cf - include src lua watchdog docs packaging Makefile README.md LICENSE CHANGELOG.md tests/support) | tar -xf - -C "$built/tree"
    inside "$built" 'cd /tree && sh packaging/deb.sh /made'
    mkdir -p "$work/$suite"
    cp "$built"/made/*.deb "$work/$suite"

    say "installing and using them in another"
    mmdebstrap --quiet --variant=minbase "$suite" "$bare" "$mirror"
    mkdir "$bare/debs"
    cp "$work/$suite"/*.deb "$bare/debs"
    inside "$bare" 'apt-get -qq update && apt-get -qq install -y --no-install-recommends redis-server /debs/librlock1_*.deb /debs/rlock_*.deb'
    inside "$bare" 'redis-server --port 0 --unixsocket /tmp/s --save "" --daemonize yes
        until redis-cli -s /tmp/s ping; do sleep 0.1; done
        export RLOCK_URL=unix:///tmp/s
        test "$(rlock nightly-job echo done)" = done
        rlock --version
        rlock nightly-job rlock inspect nightly-job | grep -q held
        ! rlock -n a rlock -n a true'
    inside "$bare" 'apt-get -qq install -y --no-install-recommends gcc libc6-dev pkg-config cmake make man-db /debs/librlock-dev_*.deb'
    cat >"$bare/tmp/program.c" <<'C'
#include <rlock/rlock.h>
#include <stdio.h>
int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "unix:///tmp/s") != RLOCK_OK)
        return puts(rlock_last_error()), 1;
    rlock *lock = rlock_get_lock(client, "order:42");
    int held = 0;
    RLOCK_WITH(lock) {
        held = rlock_valid_for(lock) > 0;
    }
    rlock_free(lock);
    rlock_client_close(client);
    return !held;
}
C
    cat >"$bare/tmp/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.13)
project(outside C)
find_package(rlock 1.0 REQUIRED)
add_executable(cmade program.c)
target_link_libraries(cmade rlock::rlock)
C
    inside "$bare" 'cd /tmp && gcc -Wall -Werror program.c -o program $(pkg-config --cflags --libs rlock) && ./program
        cmake -S . -B made && cmake --build made && made/cmade
        man 3 rlock_try_lock | grep -q wait_ms'
    inside "$bare" 'cd /usr/share/doc/librlock-dev
        gcc -Wall -Werror examples/group_lock.c -o /tmp/group $(pkg-config --cflags --libs rlock) && /tmp/group unix:///tmp/s
        for page in *.md internals/*.md; do
            sed "/^ *\`\`\`/,/^ *\`\`\`/d" "$page" | grep -o "]([^)# ]*" | grep -v "](\(http\|$\)" | sed "s/..//" | while read -r to; do
                (cd "$(dirname "$page")" && test -e "$to") || { echo "$page links to $to, which is not there"; exit 1; }
            done
        done'
    inside "$bare" 'apt-get -qq purge -y rlock librlock-dev librlock1
        test -z "$(find / -xdev -name "*rlock*" -not -path "/debs/*" -not -path "/tmp/*" -not -path "/proc/*" -not -path "/sys/*" \
            -not -path "/var/cache/man/*")"'
    say "built, installed, used and removed: $(cd "$work/$suite" && echo *.deb)"
done
