# man.awk: writes a manual page (mdoc) for each public function, from the comment before its declaration.
#   awk -v folder=build/man -v date=2026-11-25 -v version=1.0.0 -f packaging/man.awk include/rlock/*.h
# Declarations after one comment share a page, named for the first of them; for the others, lines of the output name the
# link and the page. A comment that begins with "For all calls" goes with all that follow it in the header.
# SPDX-License-Identifier: Apache-2.0

function plain(text) {
    gsub(/\\/, "\\e", text)
    if (text ~ /^[.']/)
        text = "\\&" text
    return text
}

function quoted(text) {
    text = plain(text)
    gsub(/"/, "\\(dq", text)
    return "\"" text "\""
}

function put(line) { print line > file }

# Each sentence begins a line.
function put_text(text) {
    text = plain(text)
    while (match(text, /[.!?]\)? +[^ ]/)) {
        put(substr(text, 1, RSTART + index(substr(text, RSTART), " ") - 2))
        text = plain(substr(text, RSTART + RLENGTH - 1))
    }
    put(text)
}

# The comment's text as paragraphs and, where a line begins with a word and a gap or a colon, as a list of such words.
function describe(text,    lines, count, i, line, tag, rest, listed) {
    count = split(text, lines, "\n")
    listed = 0
    for (i = 1; i <= count; i++) {
        line = lines[i]
        if (line ~ /^[^ ]/ && match(line, /^[A-Za-z_*.,<>() ]*[^ ]   *[^ ]/) && match(line, /  +/) && RSTART < 44) {
            tag = substr(line, 1, RSTART - 1)
            rest = substr(line, RSTART + RLENGTH)
        } else if (match(line, /^\*?[a-z_]+: /)) {
            tag = substr(line, 1, RLENGTH - 2)
            rest = substr(line, RLENGTH + 1)
        } else {
            tag = ""
        }
        if (tag != "") {
            if (!listed)
                put(".Bl -tag -width Ds")
            listed = 1
            put(".It " quoted(tag))
            put_text(rest)
        } else if (listed && line ~ /^  /) {
            sub(/^ +/, "", line)
            put_text(line)
        } else {
            if (listed)
                put(".El")
            listed = 0
            if (line ~ /^ *$/) {
                if (i < count && i > 1)
                    put(".Pp")
            } else {
                sub(/^ +/, "", line)
                put_text(line)
            }
        }
    }
    if (listed)
        put(".El")
}

# The first sentence, for the list of names.
function title(text) {
    gsub(/\n */, " ", text)
    if (match(text, /[.:;]( |$)/))
        text = substr(text, 1, RSTART - 1)
    return plain(text)
}

function name_of(declaration) {
    match(declaration, /rlock_[a-z_0-9]*\(/)
    return substr(declaration, RSTART, RLENGTH - 1)
}

# One declaration: its type, name and arguments.
function declare(declaration,    name, at, type, arguments, depth, i, c, one) {
    name = name_of(declaration)
    at = index(declaration, name "(")
    type = substr(declaration, 1, at - 1)
    arguments = substr(declaration, at + length(name) + 1)
    sub(/\) *;.*$/, "", arguments)
    gsub(/ +$/, "", type)
    put(".Ft " quoted(type))
    put(".Fo " name)
    depth = 0
    one = ""
    for (i = 1; i <= length(arguments); i++) {
        c = substr(arguments, i, 1)
        depth += (c == "(") - (c == ")")
        if (c == "," && depth == 0) {
            put(".Fa " quoted(one))
            one = ""
            sub(/^ +/, "", arguments)
        } else if (!(c == " " && one == "")) {
            one = one c
        }
    }
    put(".Fa " quoted(one))
    put(".Fc")
}

function page(    i, first) {
    if (!functions || comment == "")
        return
    first = name_of(function_at[1])
    file = folder "/" first ".3"
    put(".\\\" Made by packaging/man.awk from <rlock/" header ">.")
    put(".Dd " date)
    put(".Dt " toupper(first) " 3")
    put(".Os rlock " version)
    put(".Sh NAME")
    for (i = 1; i <= functions; i++)
        put(".Nm " name_of(function_at[i]) (i < functions ? " ," : ""))
    put(".Nd " title(comment))
    put(".Sh LIBRARY")
    put("librlock (pkg-config name: rlock)")
    put(".Sh SYNOPSIS")
    put(".In rlock/rlock.h")
    for (i = 1; i <= functions; i++)
        declare(function_at[i])
    put(".Sh DESCRIPTION")
    describe(comment)
    if (general != "") {
        put(".Ss For this group of calls")
        describe(general)
    }
    put(".Sh SEE ALSO")
    put(".Xr rlock 1 ,")
    put(".Xr rlock_config 3")
    put(".Pp")
    put("The types are described in")
    put(".In rlock/" header " .")
    close(file)
    for (i = 2; i <= functions; i++)
        print name_of(function_at[i]) ".3", first ".3"
}

function end_group() {
    page()
    functions = 0
}

BEGIN {
    split("January February March April May June July August September October November December", months, " ")
    split(date, parts, "-")
    date = months[parts[2] + 0] " " (parts[3] + 0) ", " parts[1]
}

FNR == 1 {
    end_group()
    comment = general = declaration = ""
    in_comment = 0
    header = FILENAME
    sub(/.*\//, "", header)
}

!in_comment && /^\/\*/ {
    end_group()
    if (comment ~ /^For all calls/)
        general = comment
    if ($0 ~ /^\/\* ---/)
        general = ""
    in_comment = 1
    text = $0
    sub(/^\/\* ?/, "", text)
    comment = ""
    if (text ~ /\*\/ *$/) {
        sub(/ *\*\/ *$/, "", text)
        in_comment = 0
    }
    comment = text
    next
}

in_comment {
    text = $0
    sub(/^ \*\/?/, "", text)
    sub(/^ /, "", text)
    if ($0 ~ /\*\/ *$/) {
        sub(/ *\*\/ *$/, "", text)
        in_comment = 0
    }
    comment = comment (text == "" && !in_comment ? "" : "\n" text)
    next
}

/^RLOCK_API/ { declaration = "" ; declaring = 1 }

declaring {
    text = $0
    gsub(/RLOCK_API |RLOCK_MUST_CHECK /, "", text)
    sub(/^ +/, "", text)
    declaration = declaration (declaration == "" ? "" : " ") text
    if (text ~ /;/) {
        declaring = 0
        function_at[++functions] = declaration
    }
}

END { end_group() }
