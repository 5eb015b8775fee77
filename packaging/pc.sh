#!/bin/sh
# pc.sh PREFIX VERSION: writes rlock.pc. The public headers include nothing but the system's, so the libraries that
# librlock.a needs stand in Libs.private: Requires.private would demand their .pc files even for --cflags.
# SPDX-License-Identifier: Apache-2.0
set -eu

# pkg-config splits at spaces and reads quotes, comments and variables, unless a backslash stands before them.
printf 'prefix=%s\n' "$1" | sed 's/[[:space:]"'\''\\#$]/\\&/g'
sed "s/@VERSION@/$2/" "$(dirname "$0")/rlock.pc.in"
