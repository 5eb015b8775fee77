/* Options: parses the command line of a sub-command: options, the lock's name, and what follows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "cli/duration.h"
#include "cli/exits.h"
#include "cli/kind.h"
#include "cli/message.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int usage_error(const char *command, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    complain("%s: %s; see rlock %s --help", command, what, command);
    return EXIT_USAGE;
}

/* The message shows an option without its value, which may be a password. */
static bool wrong(const cli_words *words, const char *what, const char *argument)
{
    char shown[SHOWN_SIZE];
    shorten(argument, shown);
    shown[strcspn(shown, "=")] = 0;
    usage_error(words->command, "%s \"%s\"", what, shown);
    return false;
}

static bool read_number(const cli_words *words, const cli_option *option, const char *value)
{
    char *end, shown[SHOWN_SIZE];
    errno = 0;
    long number = *value >= '0' && *value <= '9' ? strtol(value, &end, 10) : 0;
    if (number < 1 || *end || errno || number > INT_MAX) {
        usage_error(words->command, "%s \"%s\" is no whole number from 1 to %d", option->name,
                    shorten_word(value, shown), INT_MAX);
        return false;
    }
    *option->number = (int)number;
    return true;
}

static bool read_kind(const cli_words *words, const cli_option *option, const char *value)
{
    char shown[SHOWN_SIZE];
    const cli_kind *kind = kind_find(value);
    if (kind)
        *option->kind = kind;
    else
        usage_error(words->command, "there is no kind \"%s\": it must be " KIND_ALL, shorten_word(value, shown));
    return kind;
}

static bool read_value(const cli_words *words, const cli_option *option, const char *value)
{
    if (option->text) {
        *option->text = value;
        return true;
    }
    if (option->number)
        return read_number(words, option, value);
    if (option->kind)
        return read_kind(words, option, value);
    const char *problem = duration_read(value, option->duration_ms);
    char shown[SHOWN_SIZE];
    if (problem)
        usage_error(words->command, "%s \"%s\" is %s", option->name, shorten_word(value, shown), problem);
    return !problem;
}

/* The option that `argument` (--name or --name=value) names; NULL: there is none. */
static const cli_option *find(const cli_option *options, const char *argument)
{
    size_t length = strcspn(argument, "=");
    for (; options->name; options++) {
        if (strlen(options->name) == length && memcmp(options->name, argument, length) == 0)
            return options;
    }
    return NULL;
}

/* Parses the option at *at. If its value is the next word, moves *at to that word. */
static bool read_option(const cli_words *words, const cli_option *options, char ***at)
{
    const char *argument = **at, *equals = strchr(argument, '=');
    const cli_option *option = find(options, argument);
    if (!option)
        return wrong(words, "unknown option", argument);
    if (option->flag) {
        *option->flag = true;
        return !equals || wrong(words, "no value belongs to", argument);
    }
    if (equals)
        return read_value(words, option, equals + 1);
    if (!(*at)[1])
        return wrong(words, "a value is missing behind", argument);
    return read_value(words, option, *++*at);
}

static bool take_name(cli_words *words, const char *argument)
{
    char shown[SHOWN_SIZE];
    if (words->name || words->nameless) {
        usage_error(words->command, "\"%s\" is out of place: write rlock %s %s", shorten_word(argument, shown),
                    words->command, words->form);
        return false;
    }
    if (!*argument) {
        usage_error(words->command, "the NAME of the lock is empty");
        return false;
    }
    words->name = argument;
    return true;
}

bool options_read(cli_words *words, const cli_option *options, char **argv)
{
    bool options_over = false;
    for (char **at = argv + 1; *at; at++) {
        if (strcmp(*at, "--") == 0) {
            if (words->name) {
                words->rest = at + 1;
                return true;
            }
            options_over = true;
        } else if (options_over || **at != '-' || !(*at)[1]) {
            if (!take_name(words, *at))
                return false;
        } else if (strcmp(*at, "--help") == 0 || strcmp(*at, "-h") == 0) {
            words->help = true;
            return true;
        } else if (!read_option(words, options, &at)) {
            return false;
        }
    }
    if (words->name || words->nameless)
        return true;
    usage_error(words->command, "the NAME of the lock is missing");
    return false;
}
