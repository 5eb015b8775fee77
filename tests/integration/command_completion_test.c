/* The completions of the shells: they offer what the command has, and what the shell itself offers for the command that runs
 * under the lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_stage.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++) {
        if ((at == text || at[-1] == '\n') && (at[length] == '\n' || at[length] == '\t' || !at[length]))
            return;
    }
    cr_assert(false, "no line \"%s\" in: %s", line, text);
}

static bool is_there(const char *program)
{
    char *found = shell("command -v %s || :", program);
    bool there = *found;
    free(found);
    return there;
}

/* Whether the text has the word, and not as a part of a longer one. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; (text = strstr(text, word)); text++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyz-", text[length]) || !text[length])
            return true;
    }
    return false;
}

/* All long options that the help of one sub-command names stand in what the shell command prints, behind `dashes`. */
static void assert_complete(const char *sub_command, const char *line, const char *dashes)
{
    char *completions = shell("%s", line);
    outcome help = command_outcome("unix:///no/server/here", COMMAND(sub_command, "--help"));
    cr_assert(help.status == 0);
    int options = 0;
    for (const char *at = help.out; (at = strstr(at, " --")); at++) {
        size_t length = strspn(at + 3, "abcdefghijklmnopqrstuvwxyz-");
        char word[64];
        if (!length)
            continue;
        snprintf(word, sizeof word, "%s%.*s", dashes, (int)length, at + 3);
        cr_assert(has_word(completions, word), "%s lacks %s of rlock %s", line, word, sub_command);
        options++;
    }
    cr_assert(options >= 3, "%s", help.out);
    outcome_free(&help);
    free(completions);
}

/* Each shell offers the options of a sub-command there, and the manual page has them. For zsh, the lines of the sub-command
 * and those for all are looked at; for the manual, all of it. */
Test(command_completion, of_each_shell_has_all_options)
{
    static const char *const sub_commands[] = {"run", "ls", "inspect", "force-unlock", "doctor", "bench"};
    bool fish = is_there("fish");
    for (size_t i = 0; i < sizeof sub_commands / sizeof *sub_commands; i++) {
        const char *name = sub_commands[i];
        char line[300];
        snprintf(line, sizeof line, "bash -c 'source packaging/completions/rlock.bash; _rlock_options %s'", name);
        assert_complete(name, line, "--");
        snprintf(line, sizeof line, "sed -n '/^    server=(/,/^    )/p; /^ *%s/,/%s/p' packaging/completions/_rlock",
                 i == 0 ? "run=(" : name, i == 0 ? "^    )" : ";;$");
        assert_complete(name, line, "--");
        snprintf(line, sizeof line, "sed 's/\\\\//g' docs/man/rlock.1 | "
                 "sed -n '/^\\.It Fl/p; /^\\.Ss rlock doctor/,/^\\.Ss rlock bench/p'");
        assert_complete(name, line, " -");
        if (!fish)
            continue;
        snprintf(line, sizeof line,
                 "fish --no-config -c 'source packaging/completions/rlock.fish; complete -C \"rlock %s --\"'", name);
        assert_complete(name, line, "--");
    }
}

/* What is offered is known: a word behind it that is none of its values is refused, the option itself is not. */
Test(command_completion, offers_no_option_that_there_is_not)
{
    static const char *const sub_commands[] = {"run", "ls", "inspect", "force-unlock", "doctor", "bench"};
    for (size_t i = 0; i < sizeof sub_commands / sizeof *sub_commands; i++) {
        const char *name = sub_commands[i];
        char *offered = shell("bash -c 'source packaging/completions/rlock.bash; _rlock_options %s'", name);
        for (char *word = strtok(offered, " \n"); word; word = strtok(NULL, " \n")) {
            outcome found = command_outcome("unix:///no/server/here", COMMAND(name, word));
            cr_assert(!strstr(found.err, "unknown option"), "%s", found.err);
            outcome_free(&found);
        }
        free(offered);
    }
}

/* The kinds that a message names are those that are offered. */
Test(command_completion, of_each_shell_has_the_kinds)
{
    static const char *const sub_commands[] = {"run", "force-unlock", "bench"};
    for (size_t i = 0; i < 3; i++) {
        char *bash = shell("bash -c 'source packaging/completions/rlock.bash; COMP_WORDS=(rlock %s --kind \"\"); COMP_CWORD=3; "
                           "_rlock; printf \"%%s\\n\" \"${COMPREPLY[@]}\" | sort'",
                           sub_commands[i]);
        outcome refused = command_outcome("unix:///no/server/here",
                                          COMMAND(sub_commands[i], "--kind", i == 2 ? "permit" : "bogus"));
        const char *from = strstr(refused.err, "it must be ");
        cr_assert(from, "%s", refused.err);
        char *named = shell("printf '%%s' '%.*s' | sed 's/, or /, /; s/ or /, /; s/, /\\n/g' | sort; echo",
                            (int)strcspn(from + 11, ";"), from + 11);
        cr_assert(strncmp(bash, named, strlen(bash)) == 0, "%s offers\n%snot\n%s", sub_commands[i], bash, named);
        free(bash);
        free(named);
        outcome_free(&refused);
    }
}

/* What bash offers for the last of these words; the completion of COMMAND itself is that of the package bash-completion,
 * which says here where COMMAND begins. */
static char *bash_offers(const char *words)
{
    return shell(
        "bash -c 'source packaging/completions/rlock.bash; _command_offset() { COMPREPLY=(\"command at $1\"); }; "
        "compopt() { :; }; COMP_WORDS=(rlock %s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rlock; "
        "printf \"%%s\\n\" \"${COMPREPLY[@]}\"'",
        words);
}

static void assert_bash(const char *words, const char *expected)
{
    char *offered = bash_offers(words);
    assert_has_line(offered, expected);
    free(offered);
}

Test(command_completion, of_bash_knows_where_the_command_begins)
{
    assert_bash("\"\"", "inspect");
    assert_bash("do", "doctor");
    assert_bash("run --ki", "--kill-after");
    assert_bash("--kind \"\"", "group");
    assert_bash("bench --kind re", "read");
    assert_bash("--codec k", "kryo5");
    assert_bash("ls --l", "--long");
    assert_bash("report ech", "echo");
    assert_bash("-w 3 report git che", "command at 4");
    assert_bash("run -n report -- git che", "command at 5");
    assert_bash("-nE 0 report git che", "command at 4");
    assert_bash("run -sw 3 report git che", "command at 5");
    assert_bash("-w3 report git che", "command at 3");
    assert_bash("doctor --url redis://h --s", "--strict");
    assert_bash("inspect --config file --j", "--json");
    assert_bash("inspect report --j", "--json");
}

static void assert_fish(const char *line, const char *expected)
{
    char *offered = shell("fish --no-config -c 'source packaging/completions/rlock.fish; complete -C \"%s\"' 2>&1",
                          line);
    assert_has_line(offered, expected);
    free(offered);
}

Test(command_completion, of_fish_knows_where_the_command_begins)
{
    if (!is_there("fish"))
        cr_skip_test("no fish here");
    assert_fish("rlock ", "inspect");
    assert_fish("rlock run --ki", "--kill-after");
    assert_fish("rlock --kind ", "group");
    assert_fish("rlock ls --l", "--long");
    assert_fish("rlock report ech", "echo");
    assert_fish("rlock run -w 3 report -- ech", "echo");
    assert_fish("rlock -nE 0 report ech", "echo");
    assert_fish("rlock --config file report ech", "echo");
    assert_fish("rlock doctor --s", "--strict");
    assert_fish("rlock -- ls ech", "echo");
}

/* zsh's completions work in a terminal only; that it understands the file is looked at. */
Test(command_completion, of_zsh_is_understood_by_it)
{
    if (!is_there("zsh"))
        cr_skip_test("no zsh here");
    shell_do("zsh -n packaging/completions/_rlock");
    shell_do("zsh -fc 'autoload -Uz compinit; fpath=($PWD/packaging/completions $fpath); "
             "compinit -D -u; [[ $_comps[rlock] = _rlock ]]'");
}
