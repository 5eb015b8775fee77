# man.awk: writes a manual page (mdoc) for each public function, from the comment before its declaration.
#   awk -v folder=build/man -v date=2026-11-25 -v version=1.0.0 -f packaging/man.awk include/rlock/*.h
# Declarations after one comment share a page, named for the first of them; for the others, lines of the output name the
# link and the page; macros in capitals that follow the declarations come first there. From a line that begins with "For all calls", a comment is also part of the pages of the functions
# that follow and return a status, until the next section of the header (a comment that begins with "---").
# Structs, enums and types of functions that a page's declarations name are shown there with their comments. The headers are
# read twice, first for these: a header may name a type of one that comes later.
# SPDX-License-Identifier: Apache-2.0

function plain(text) {
    gsub(/\\/, "\\e", text)
    if (text ~ /^[.']/)
        text = "\\&" text
    return text
}

# The rest of a text that plain() has been through, at the beginning of a line.
function plain_start(text) { return text ~ /^[.']/ ? "\\&" text : text }

# Text between backticks in bold.
function bold(text,    code) {
    while (match(text, /`[^`]+`/)) {
        code = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, 1, RSTART - 1) "\\fB" code "\\fR" substr(text, RSTART + RLENGTH)
    }
    return text
}

function quoted(text) {
    text = plain(text)
    gsub(/"/, "\\(dq", text)
    return "\"" text "\""
}

function put(line) { print line > file }

# Each sentence begins a line.
function put_text(text,    sentence) {
    text = plain(text)
    while (match(text, /[.!?]\)? +[^ ]/)) {
        sentence = substr(text, 1, RSTART + index(substr(text, RSTART), " ") - 2)
        text = plain_start(substr(text, RSTART + RLENGTH - 1))
        put(bold(sentence))
    }
    put(bold(text))
}

# Opens the list of this kind, inside which `inner` lists of URLs may be, or ends what is open for "".
function list(kind) {
    if (kind == "url" && listed == "tag")
        inner = 1
    else if (kind != listed && inner) {
        put(".El")
        inner = 0
    }
    if (inner) {
        if (!urls++)
            put(".Bl -tag -width Ds -compact")
        return
    }
    urls = 0
    if (kind == listed)
        return
    if (listed != "")
        put(".El")
    if (kind != "")
        put(kind == "dash" ? ".Bl -dash" : ".Bl -tag -width Ds")
    listed = kind
}

# The comment's text as paragraphs and lists: of words, where a line begins with a word and a gap, or, after the end of a
# sentence, a word and a colon; of URLs; and of lines that begin with a dash.
function describe(text,    lines, count, i, line, tag, rest) {
    count = split(text, lines, "\n")
    listed = ""
    inner = urls = 0
    for (i = 1; i <= count; i++) {
        line = lines[i]
        if (i == 1 && line ~ /^---.*---$/) {
            i++ # and the empty line after it
            continue
        }
        tag = ""
        if (line ~ /^ *[a-z-]+:\/\/[^ ]+  +[^ ]/) {
            list("url")
            sub(/^ +/, "", line)
            match(line, /  +/)
            rest = substr(line, RSTART + RLENGTH)
            put(".It " quoted(substr(line, 1, RSTART - 1)))
            put_text(rest)
            continue
        }
        if (line ~ /^ *- /) {
            list("dash")
            sub(/^ *- /, "", line)
            put(".It")
            put_text(line)
            continue
        }
        if (line ~ /^ ? ?[^ ]/ && match(line, /^ ? ?[A-Za-z_*.,<>() ]*[^ ]   *[^ ]/) && match(line, /[^ ]  +/) &&
            RSTART < 44) {
            tag = substr(line, 1, RSTART)
            rest = substr(line, RSTART + RLENGTH)
            sub(/^ +/, "", tag)
        } else if ((i == 1 || lines[i - 1] ~ /(^|[.:;]) *$/) && match(line, /^\*?[a-z_]+: /)) {
            tag = substr(line, 1, RLENGTH - 2)
            rest = substr(line, RLENGTH + 1)
        }
        if (tag != "") {
            list("tag")
            put(".It " quoted(tag))
            put_text(rest)
        } else if (listed != "" && line ~ /^  /) {
            sub(/^ +/, "", line)
            put_text(line)
        } else {
            list("")
            if (line ~ /^ *$/) {
                if (i < count && i > 1)
                    put(".Pp")
            } else {
                sub(/^ +/, "", line)
                put_text(line)
            }
        }
    }
    list("")
}

# The first sentence, for the list of names.
function title(text) {
    sub(/^---[^\n]*---\n+/, "", text)
    gsub(/\n */, " ", text)
    gsub(/`/, "", text)
    while (match(text, / \([^()]*\)/)) # what it says more exactly
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
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

# The group's text goes with functions that return a status: the others ask nothing.
function in_group(    i) {
    for (i = 1; i <= functions; i++)
        if (function_at[i] !~ /^rlock_status /)
            return 0
    return group != ""
}

# "For all calls …" is the heading, and what comes after it the text.
function describe_group(    heading, text) {
    match(group, /^For all calls[^.:]*[.:][ \n]*/)
    heading = substr(group, 1, RLENGTH)
    text = substr(group, RLENGTH + 1)
    sub(/[.:][ \n]*$/, "", heading)
    put(".Ss " heading)
    describe(toupper(substr(text, 1, 1)) substr(text, 2))
}

# A macro, as a function without types.
function declare_macro(macro,    name, arguments, count, i) {
    name = macro
    sub(/\(.*/, "", name)
    count = split(substr(macro, length(name) + 2, length(macro) - length(name) - 2), arguments, /, */)
    put(".Fo " name)
    for (i = 1; i <= count; i++)
        put(".Fa " quoted(arguments[i]))
    put(".Fc")
}

# Those that have a page of their own are too long to be shown elsewhere.
function is_shown_elsewhere(type) { return type ~ /^rlock_(config|status)$/ }

# Notes the types that the text names, and those that they name.
function note_types(text,    name) {
    while (match(text, /rlock_[a-z_]+/)) {
        name = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (name in type_text && !(name in noted) && !is_shown_elsewhere(name)) {
            noted[name] = ++types
            type_at[types] = name
            note_types(type_text[name])
        }
    }
}

function describe_types(    i, k, count, lines) {
    split("", noted)
    types = 0
    for (i = 1; i <= functions; i++)
        note_types(function_at[i])
    if (types)
        put(".Ss Types")
    for (i = 1; i <= types; i++) {
        put(".Bd -literal")
        count = split(type_text[type_at[i]], lines, "\n")
        for (k = 1; k < count; k++)
            put(bold(plain(lines[k])))
        put(".Ed")
    }
}

function page(    i, first, name) {
    if (!functions || comment == "")
        return
    first = name_of(function_at[1])
    file = folder "/" first ".3"
    put(".\\\" Made by packaging/man.awk from <rlock/" header ">.")
    put(".Dd " date)
    put(".Dt " toupper(first) " 3")
    put(".Os rlock " version)
    put(".Sh NAME")
    for (i = 1; i <= macros; i++) {
        name = macro_at[i]
        sub(/\(.*/, "", name)
        put(".Nm " name " ,")
        print name ".3", first ".3"
    }
    for (i = 1; i <= functions; i++)
        put(".Nm " name_of(function_at[i]) (i < functions ? " ," : ""))
    put(".Nd " title(comment))
    put(".Sh LIBRARY")
    put("librlock (pkg-config name: rlock)")
    put(".Sh SYNOPSIS")
    put(".In rlock/rlock.h")
    for (i = 1; i <= macros; i++)
        declare_macro(macro_at[i])
    for (i = 1; i <= functions; i++)
        declare(function_at[i])
    put(".Sh DESCRIPTION")
    describe(comment)
    if (in_group())
        describe_group()
    describe_types()
    put(".Sh SEE ALSO")
    put(".Xr rlock 1 ,")
    put(".Xr rlock 3 ,")
    put(".Xr rlock_config 3")
    put(".Pp")
    put("The types are described in")
    put(".In rlock/" header " .")
    close(file)
    for (i = 2; i <= functions; i++)
        print name_of(function_at[i]) ".3", first ".3"
}

# The comment before the functions has been dealt with.
function end_page() {
    page()
    functions = macros = 0
}

# A comment is complete: does it begin a group?
function end_comment() {
    if (match("\n" comment, /\nFor all calls/))
        group = substr(comment, RSTART)
}

BEGIN {
    headers = ARGC - 1
    for (i = 1; i <= headers; i++)
        ARGV[ARGC++] = ARGV[i]
    split("January February March April May June July August September October November December", months, " ")
    split(date, parts, "-")
    date = months[parts[2] + 0] " " (parts[3] + 0) ", " parts[1]
}

FNR == 1 { read++ }

# The first time.
read <= headers {
    if (match($0, /^typedef (struct|enum) [a-z_]+ \{/) || match($0, /^typedef [a-z_]+ rlock_[a-z_]+_fn\(/)) {
        match($0, /rlock_[a-z_]+( \{|_fn\()/)
        type = substr($0, RSTART, RLENGTH)
        sub(/( \{|\()$/, "", type)
    }
    if (type != "")
        type_text[type] = type_text[type] $0 "\n"
    if (/^}/ || /;$/ && type ~ /_fn$/)
        type = ""
    next
}

FNR == 1 {
    end_page()
    comment = group = declaration = ""
    in_comment = 0
    header = FILENAME
    sub(/.*\//, "", header)
}

!in_comment && /^\/\*/ {
    end_page()
    if ($0 ~ /^\/\* ---/)
        group = ""
    in_comment = 1
    text = $0
    sub(/^\/\* ?/, "", text)
    comment = ""
    if (text ~ /\*\/ *$/) {
        sub(/ *\*\/ *$/, "", text)
        in_comment = 0
    }
    comment = text
    if (!in_comment)
        end_comment()
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
    if (!in_comment)
        end_comment()
    next
}

# Those with a _ at the end are internal.
functions && /^#define RLOCK_[A-Z_]*[A-Z]\(/ {
    match($0, /RLOCK_[A-Z_]*\([^)]*\)/)
    macro_at[++macros] = substr($0, RSTART, RLENGTH)
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

END { end_page() }
