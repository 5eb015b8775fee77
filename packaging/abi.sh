#!/bin/sh
# abi.sh FOLDER: compares librlock.so.1 as it is built now in FOLDER with that of the last tag, by abidiff: a program that was
# linked with the release must go on to run. Without a tag there is nothing to compare with.
# SPDX-License-Identifier: Apache-2.0
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
built=$(cd "$1" && pwd)
cd "$top"
command -v abidiff >/dev/null || {
    echo "There is no abidiff here: install abigail-tools" >&2
    exit 1
}
tag=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null) || {
    echo "abi: no version has been tagged yet, so any change may be made"
    exit 0
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
git archive "$tag" | tar -xf - -C "$work"
make -C "$work" B=build build/librlock.so.1 >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
if abidiff --no-added-syms --headers-dir1 "$work/include/rlock" --headers-dir2 include/rlock \
    "$work/build/librlock.so.1" "$built/librlock.so.1"; then
    echo "abi: programs that were linked with $tag run with this library"
else
    echo "abi: this library breaks programs that were linked with $tag (see above); restore what they use, or count the major version up" >&2
    exit 1
fi
