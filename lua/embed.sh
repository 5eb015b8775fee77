#!/bin/sh
# Turns the scripts named on the command line into C: lua/lock/acquire.lua becomes
# `const rli_script rli_script_lock_acquire` with its text and the SHA1 that EVALSHA wants.
# Comment lines and indentation stay out of the text that the server gets. A script that publishes
# has three forms, one for each way in which messages are spread (src/redis/script.h).
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
form() { # spread: the text on standard input as that one wants it
    case $1 in
    scattered) sed 's/^local counted = true/local counted = false/' ;;
    sharded) sed -e "s/call('publish'/call('spublish'/" -e "s/'numsub'/'shardnumsub'/" ;;
    *) cat ;;
    esac
}
# The text on standard input as a C string.
quote() {
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e '$!s/$/\\n"/' -e '$s/$/"/'
}
echo '#include "redis/script.h"'
for file do
    name=$(echo "$file" | sed 's,^lua/,,; s,\.lua$,,; s,/,_,g')
    text=$(include "$file" | sed -e 's/^[ \t]*//' -e '/^--/d' -e '/^$/d')
    shas= texts=
    for spread in counted scattered sharded; do
        own=$(printf '%s' "$text" | form $spread)
        shas="$shas    \"$(printf '%s' "$own" | sha1sum | cut -d' ' -f1)\",
"
        texts="$texts$(printf '%s' "$own" | quote),
"
    done
    printf 'const rli_script rli_script_%s = {{\n%s}, {\n%s}};\n' "$name" "$shas" "$texts"
    all="${all:-}    &rli_script_$name,\n"
done
printf "const rli_script *const rli_scripts[] = {\n${all:-}    0,\n};\n"
