#!/bin/sh
# Turns the scripts named on the command line into C source on standard output.
# lua/lock/acquire.lua becomes `const rli_script rli_script_lock_acquire`: the script's text and its SHA1s for EVALSHA.
# Comment lines and indentation are not part of the text that the server gets. (A comment behind code on the same line
# is: changing it changes the SHA1.)
# Each script has three forms, one per pub/sub mode (counted, scattered, sharded; src/redis/script.h). Its text is
# embedded once: a byte above 127 stands for a part that differs between the forms, or for an included file that
# several scripts share. src/redis/script.c puts the parts in.
# SPDX-License-Identifier: Apache-2.0
set -eu
# Replaces the parts that differ between the forms by their marks, written as @OCTAL@ until quote() makes bytes of them.
mark_forms() {
    sed -e "s/call('publish'/call('@200@publish'/g" -e "s/'numsub'/'@201@numsub'/g" \
        -e 's/^local counted = true/local counted = @202@/'
}
# Prints the marked text on standard input in the form of pub/sub mode $1.
form() {
    case $1 in
    counted) sed -e 's/@200@//g; s/@201@//g; s/@202@/true/' ;;
    scattered) sed -e 's/@200@//g; s/@201@//g; s/@202@/false/' ;;
    sharded) sed -e 's/@200@/s/g; s/@201@/shard/g; s/@202@/true/' ;;
    esac
}
forms='{"", "", "s"}, {"", "", "shard"}, {"true", "false", "true"}'
first_include=131
# Prints file $1 without comment lines, indentation and empty lines, with marks.
bare() {
    sed -e 's/^[ \t]*//' -e '/^--@/b' -e '/^--/d' -e '/^$/d' "$1" | mark_forms
}
# Prints the script on standard input with each line `--@include folder/part.inc` replaced by the file's text
# ($1 = whole) or by its mark ($1 = marked).
include() {
    while IFS= read -r line; do
        case $line in
        --@include\ *)
            if [ "$1" = whole ]; then
                bare "lua/${line#--@include }" | include whole
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
# Prints the marked text on standard input as a C string literal, without the last newline.
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
    printf '%s,\n' "$(bare "$part" | include marked | quote)"
done
echo '};'
