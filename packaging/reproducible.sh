#!/bin/sh
# reproducible.sh FOLDER: builds this tree twice, in two folders of other names, and compares what comes out byte by byte.
# SPDX-License-Identifier: Apache-2.0
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
export CCACHE_DISABLE=1
for place in "$work/one" "$work/another/further/down"; do
    rm -rf "$place"
    mkdir -p "$place"
    (cd "$top" && tar -cf - include src lua watchdog docs/man packaging Makefile CHANGELOG.md tests/support/deps.sh) | tar -xf - -C "$place"
    make -C "$place" -j"$(nproc)" install DESTDIR="$place/made" PREFIX=/usr >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
done
if diff -r "$work/one/made" "$work/another/further/down/made"; then
    echo "reproducible: both builds are the same, byte by byte"
    rm -rf "$work/one" "$work/another"
else
    echo "reproducible: the builds differ (see above); both are in $work" >&2
    exit 1
fi
