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

unavailable() { echo "bench: $who: $1" >&2; exit 77; }
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
