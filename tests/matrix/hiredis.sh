#!/bin/sh
# Builds a hiredis of tests/matrix/versions: its headers in DIR/include, its library in DIR/lib.
#   hiredis.sh NAME SUITE PACKAGE DIR
# Does nothing when it is there already. Exits 77, after a line on stderr, when it is not to be had here.
# SPDX-License-Identifier: Apache-2.0
set -eu

here=$(cd "$(dirname "$0")" && pwd)
suite=$2 package=$3 dir=$4
[ ! -e "$dir/version" ] || exit 0

rm -rf "$dir"
mkdir -p "$dir"
trap 'rm -rf "$dir/source"' EXIT
sh "$here/debian.sh" source "$suite" "$dir/source" "$package" || exit

# The server's source package has the hiredis in it that the server's own programs are built with.
makefile=$(ls "$dir"/source/*/deps/hiredis/Makefile "$dir"/source/hiredis-*/Makefile 2>/dev/null | head -n 1)
top=${makefile%/Makefile}
if ! make -C "$top" PREFIX="$dir" install >"$dir/build.log" 2>&1; then
    echo "does not build here (see $dir/build.log)" >&2
    exit 77
fi
number() {
    sed -n "s/^#define HIREDIS_$1 \([0-9]*\).*/\1/p" "$dir/include/hiredis/hiredis.h"
}
echo "$(number MAJOR).$(number MINOR).$(number PATCH)" >"$dir/version"
