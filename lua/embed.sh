#!/bin/sh
# Turns the scripts named on the command line into C: lua/lock/acquire.lua becomes
# `const rli_script rli_script_lock_acquire` with its text and the SHA1 that EVALSHA wants.
# Comment lines and indentation stay out of the text that the server gets.
# SPDX-License-Identifier: Apache-2.0
set -eu
# The file, with what its lines `--@include folder/part.inc` name in their place.
include() {
    while IFS= read -r line; do
        case $line in
        --@include\ *) cat "lua/${line#--@include }" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1"
}
echo '#include "redis/script.h"'
for file do
    name=$(echo "$file" | sed 's,^lua/,,; s,\.lua$,,; s,/,_,g')
    text=$(include "$file" | sed -e 's/^[ \t]*//' -e '/^--/d' -e '/^$/d')
    sha=$(printf '%s' "$text" | sha1sum | cut -d' ' -f1)
    printf 'const rli_script rli_script_%s = {\n    "%s",\n' "$name" "$sha"
    printf '%s' "$text" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e '$!s/$/\\n"/' -e '$s/$/"/'
    printf '};\n'
    all="${all:-}    &rli_script_$name,\n"
done
printf "const rli_script *const rli_scripts[] = {\n${all:-}    0,\n};\n"
