#!/bin/sh
# pc.sh PREFIX LIBDIR VERSION: writes rlock.pc. The public headers include nothing but the system's, so the libraries that
# librlock.a needs stand in Libs.private: Requires.private would demand their .pc files even for --cflags.
# SPDX-License-Identifier: Apache-2.0
set -eu

# pkg-config splits at spaces and reads quotes, comments and variables, unless a backslash stands before them.
escape() { sed 's/[[:space:]"'\''\\#$]/\\&/g'; }
printf 'prefix=%s\n' "$1" | escape
case $2 in
"$1"/*) printf 'libdir=${prefix}%s\n' "$(printf '%s' "${2#"$1"}" | escape)" ;;
*) printf 'libdir=%s\n' "$2" | escape ;;
esac
sed "s/@VERSION@/$3/" "$(dirname "$0")/rlock.pc.in"
