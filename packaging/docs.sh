#!/bin/sh
# docs.sh FOLDER INCLUDE: puts README.md, the pages of docs/ and their pictures into FOLDER, as they are installed: the pages
# beside README.md, the headers in the folder INCLUDE. Their links lead there.
# SPDX-License-Identifier: Apache-2.0
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$1"
mkdir -p "$1/internals" "$1/benchmarks"
include=$(printf %s "$2" | sed 's/[\\,&]/\\&/g')
relink() { # file, where it goes
    # What no package has, such as the list of tested versions, becomes plain text.
    sed -e 's,](docs/,](,g' -e 's,](\.\./README\.md,](README.md,g' -e 's,](\(\.\./\)*include/rlock/,]('"$include"'/rlock/,g' \
        -e 's,\[\([^][]*\)\](\(\.\./\)*\(LICENSE\|CONTRIBUTING\.md\|packaging/[^)]*\|tests/[^)]*\|man/[^)]*\)),\1,g' "$1" >"$2/${1##*/}"
}
relink "$top/README.md" "$1"
for page in "$top"/docs/*.md; do
    relink "$page" "$1"
done
for page in "$top"/docs/internals/*.md; do
    relink "$page" "$1/internals"
done
cp "$top/docs/demo.svg" "$1"
cp "$top"/docs/benchmarks/*.svg "$1/benchmarks"
