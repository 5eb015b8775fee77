#!/bin/sh
# Turns the scripts named on the command line into C: lua/lock/acquire.lua becomes
# `const rli_script rli_script_lock_acquire` with its text and the SHA1 that EVALSHA wants.
# Comment lines and indentation stay out of the text that the server gets. A script that publishes
# has three forms, one for each way in which messages are published (src/redis/script.h). Each text is
# embedded once: where the forms differ, and where others include the same, a byte above 127 names
# the part that src/redis/script.c puts there.
# SPDX-License-Identifier: Apache-2.0
set -eu
# The parts that differ, as @OCTAL@ while they are text, and what they are when counted, scattered, sharded.
mark_forms() {
    sed -e "s/call('publish'/call('@200@publish'/g" -e "s/'numsub'/'@201@numsub'/g" \
        -e 's/^local counted = true/local counted = @202@/'
}
form() { # mode: the marked text on standard input as that one wants it
    case $1 in
    counted) sed -e 's/@200@//g; s/@201@//g; s/@202@/true/' ;;
    scattered) sed -e 's/@200@//g; s/@201@//g; s/@202@/false/' ;;
    sharded) sed -e 's/@200@/s/g; s/@201@/shard/g; s/@202@/true/' ;;
    esac
}
forms='{"", "", "s"}, {"", "", "shard"}, {"true", "false", "true"}'
first_include=131
bare() { # file: without comments, indentation and empty lines, and marked
    sed -e 's/^[ \t]*//' -e '/^--@/b' -e '/^--/d' -e '/^$/d' "$1" | mark_forms
}
# The script on standard input, with what its lines `--@include folder/part.inc` name in their place:
# the text itself ($1 = whole), or the part's mark ($1 = marked).
include() {
    while IFS= read -r line; do
        case $line in
        --@include\ *)
            if [ "$1" = whole ]; then
                bare "lua/${line#--@include }"
            else
                number=$first_include
                for part in lua/*/*.inc; do
                    [ "$part" != "lua/${line#--@include }" ] || printf '@%o@\n' $number
                    number=$((number + 1))
                done
            fi ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
}
# The marked text on standard input as a C string, without the last end of line.
quote() {
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/@\(2[0-7][0-7]\)@/\\\1/g' -e 's/^/    "/' -e '$!s/$/\\n"/' -e '$s/$/"/'
}
echo '#include "redis/script.h"'
for file do
    name=$(echo "$file" | sed 's,^lua/,,; s,\.lua$,,; s,/,_,g')
    text=$(bare "$file" | include whole)
    shas=
    for mode in counted scattered sharded; do
        shas="$shas    \"$(printf '%s' "$text" | form $mode | sha1sum | cut -d' ' -f1)\",
"
    done
    printf 'const rli_script rli_script_%s = {{\n%s},\n%s};\n' "$name" "$shas" "$(bare "$file" | include marked | quote)"
    all="${all:-}    &rli_script_$name,\n"
done
printf "const rli_script *const rli_scripts[] = {\n${all:-}    0,\n};\n"
printf 'const char *const rli_script_forms[RLI_SCRIPT_FORMS][RLI_PUBSUB_MODES] = {%s};\n' "$forms"
echo 'const char *const rli_script_includes[] = {'
for part in lua/*/*.inc; do
    printf '%s,\n' "$(bare "$part" | quote)"
done
echo '};'
