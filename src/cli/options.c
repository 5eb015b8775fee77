/* Options: parses the command line of a sub-command: options with their values, the lock's name, and what follows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "cli/message.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <rlock/read_write_lock.h>
#include <rlock/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- kinds --- */

static rlock *side(rlock_client *client, const char *name, rlock *(*of)(rlock_read_write_lock *))
{
    rlock_read_write_lock *both = rlock_get_read_write_lock(client, name);
    rlock *lock = both ? of(both) : NULL;
    rlock_read_write_lock_free(both);
    return lock;
}

static rlock *read_side(rlock_client *client, const char *name)
{
    return side(client, name, rlock_read_lock);
}

static rlock *write_side(rlock_client *client, const char *name)
{
    return side(client, name, rlock_write_lock);
}

const cli_kind kind_plain = {.name = "lock", .lock = rlock_get_lock};

static const cli_kind others[] = {
    {.name = "fair", .lock = rlock_get_fair_lock},
    {.name = "spin", .lock = rlock_get_spin_lock},
    {.name = "fenced", .lock = rlock_get_fenced_lock, .fenced = true},
    {.name = "token", .lock = rlock_get_token_lock},
    {.name = "signal", .lock = rlock_get_signal_lock, .braces = true},
    {.name = "read", .lock = read_side},
    {.name = "write", .lock = write_side},
    {.name = "non-reentrant", .lock = rlock_get_non_reentrant_lock},
    {.name = "sharded", .sharded = true},
    {.name = "group", .grouped = true},
    {.name = "semaphore"},
    {.name = "permit", .leased = true},
};

const cli_kind *kind_find(const char *name)
{
    if (strcmp(name, kind_plain.name) == 0)
        return &kind_plain;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(name, others[i].name) == 0)
            return &others[i];
    }
    return NULL;
}

/* --- durations: 500ms, 10s, 1.5m, 1h; a number alone means seconds --- */

#define DURATION_FORM "write a duration such as 500ms, 10s, 1.5m or 1h"
static const char not_one[] = "not a duration; " DURATION_FORM;
static const char negative[] = "negative; " DURATION_FORM;
static const char too_long[] = "longer than 100 years";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How many milliseconds the unit `unit` has; 0: there is no such unit. */
static int64_t unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    }
    return 0;
}

/* The fraction 0.<digits> of `unit` milliseconds, rounded up. Works from the last digit to the first, so that
 * every digit counts and nothing overflows. */
static int64_t fraction_ms(const char *digits, size_t count, int64_t unit)
{
    int64_t value = 0; /* of the digits so far, in nanoseconds */
    bool more = false;
    for (size_t i = count; i > 0; i--) {
        value += (digits[i - 1] - '0') * unit * 1000000;
        more = more || value % 10;
        value /= 10;
    }
    return value / 1000000 + (value % 1000000 || more ? 1 : 0);
}

/* Parses `text` into *ms, rounded up to whole milliseconds, so that only a duration of zero becomes 0.
 * Returns NULL and sets *ms, or returns what is wrong with the text, in words that follow "… is ". */
static const char *duration_read(const char *text, int64_t *ms)
{
    const char *at = text + (*text == '-');
    if (!is_digit(at[0]) && !(at[0] == '.' && is_digit(at[1])))
        return not_one;
    int64_t whole = 0;
    bool overflow = false;
    for (; is_digit(*at); at++) {
        overflow = overflow || whole > RLOCK_LEASE_MAX_MS;
        whole = overflow ? whole : whole * 10 + (*at - '0');
    }
    bool point = *at == '.';
    const char *digits = at + point;
    size_t count = point ? strspn(digits, "0123456789") : 0;
    int64_t unit = unit_ms(digits + count);
    if (!unit || (point && !count))
        return not_one;
    if (*text == '-')
        return negative;
    if (overflow || whole > RLOCK_LEASE_MAX_MS / unit)
        return too_long;
    int64_t total = whole * unit + fraction_ms(digits, count, unit);
    if (total > RLOCK_LEASE_MAX_MS)
        return too_long;
    *ms = total;
    return NULL;
}

/* --- the command line --- */

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

static bool read_number(const cli_words *words, const char *name, const char *value, int least, int most, int *number)
{
    char *end, shown[SHOWN_SIZE];
    errno = 0;
    long found = *value >= '0' && *value <= '9' ? strtol(value, &end, 10) : -1;
    if (found < least || *end || errno || found > most) {
        usage_error(words->command, "%s \"%s\" is not a whole number from %d to %d", name, shorten_word(value, shown),
                    least, most);
        return false;
    }
    *number = (int)found;
    return true;
}

static bool read_kind(const cli_words *words, const cli_option *option, const char *value)
{
    char shown[SHOWN_SIZE];
    const cli_kind *kind = kind_find(value);
    if (kind)
        *option->kind = kind;
    else
        usage_error(words->command, "unknown kind \"%s\": it must be %s", shorten_word(value, shown),
                    words->kinds ? words->kinds : KIND_ALL);
    return kind;
}

static bool read_item(const cli_words *words, cli_list *list, const char *value)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items) {
        usage_error(words->command, "out of memory for %zu values", list->count + 1);
        return false;
    }
    items[list->count++] = value;
    list->items = items;
    return true;
}

/* `name`: the option as it was written. */
static bool read_value(const cli_words *words, const cli_option *option, const char *name, const char *value)
{
    if (option->text) {
        *option->text = value;
        return true;
    }
    if (option->list)
        return read_item(words, option->list, value);
    if (option->number)
        return read_number(words, name, value, 1, option->most ? option->most : INT_MAX, option->number);
    if (option->exit_status)
        return read_number(words, name, value, 0, 255, option->exit_status);
    if (option->kind)
        return read_kind(words, option, value);
    const char *problem = duration_read(value, option->duration_ms);
    char shown[SHOWN_SIZE];
    if (problem)
        usage_error(words->command, "%s \"%s\" is %s", name, shorten_word(value, shown), problem);
    return !problem;
}

static bool needs_no_value(const cli_option *option)
{
    return option->flag || option->fixed;
}

/* Applies an option that needs no value. */
static bool set(const cli_words *words, const cli_option *option)
{
    if (option->flag)
        *option->flag = true;
    return option->flag || read_value(words, option, option->name, option->fixed);
}

static bool refuse(const cli_words *words, const cli_option *option, const char *name)
{
    usage_error(words->command, "there is no %s: %s", name, option->never);
    return false;
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

/* The only option that begins with what `argument` has up to "="; NULL: none does, or several do. */
static const char *find_longer(const cli_option *options, const char *argument)
{
    size_t length = strcspn(argument, "=");
    const char *found = NULL;
    for (; length > 2 && options->name; options++) {
        if (options->never || strncmp(options->name, argument, length) != 0)
            continue;
        if (found)
            return NULL;
        found = options->name;
    }
    return found;
}

static bool suggest(const cli_words *words, const char *argument, const char *meant)
{
    usage_error(words->command, "unknown option \"%.*s\" (did you mean %s?)", (int)strcspn(argument, "="), argument,
                meant);
    return false;
}

/* Parses the long option at *at. If its value is the next word, moves *at to that word. */
static bool read_long(const cli_words *words, const cli_option *options, char ***at)
{
    const char *argument = **at, *equals = strchr(argument, '=');
    const cli_option *option = find(options, argument);
    if (!option) {
        const char *longer = find_longer(options, argument);
        return longer ? suggest(words, argument, longer) : wrong(words, "unknown option", argument);
    }
    if (option->never)
        return refuse(words, option, option->name);
    if (needs_no_value(option))
        return equals ? wrong(words, "no value may follow", argument) : set(words, option);
    if (equals)
        return read_value(words, option, option->name, equals + 1);
    if (!(*at)[1])
        return wrong(words, "a value is missing after", argument);
    return read_value(words, option, option->name, *++*at);
}

/* `letter`: in `argument`. */
static bool refuse_letter(const cli_words *words, const char *argument, const char *letter)
{
    const char name[] = {'-', *letter, 0}, before[] = {'-', letter[-1], 0};
    bool value = letter > argument + 1 && isdigit((unsigned char)*letter);
    return value ? wrong(words, "no value may follow", before) : wrong(words, "unknown option", name);
}

/* Parses the short options at *at, of which the last may have its value behind it or in the next word. */
static bool read_short(const cli_words *words, const cli_option *options, char ***at)
{
    char longer[SHOWN_SIZE];
    snprintf(longer, sizeof longer, "-%s", **at);
    const cli_option *meant = find(options, longer);
    if (meant && !meant->never)
        return suggest(words, **at, meant->name);
    for (const char *letter = **at + 1; *letter; letter++) {
        const char name[] = {'-', *letter, 0};
        const cli_option *option = options;
        while (option->name && option->letter != *letter)
            option++;
        if (!option->name)
            return refuse_letter(words, **at, letter);
        if (option->never)
            return refuse(words, option, name);
        if (!needs_no_value(option)) {
            if (!letter[1] && !(*at)[1])
                return wrong(words, "a value is missing after", name);
            return read_value(words, option, name, letter[1] ? letter + 1 : *++*at);
        }
        if (!set(words, option))
            return false;
    }
    return true;
}

static bool take_name(cli_words *words, const char *argument)
{
    char shown[SHOWN_SIZE];
    if (words->name || words->nameless) {
        usage_error(words->command, "unexpected argument \"%s\": write rlock %s %s", shorten_word(argument, shown),
                    words->command, words->form);
        return false;
    }
    if (!*argument && !words->name_is_optional) {
        usage_error(words->command, "the NAME of the lock is empty");
        return false;
    }
    words->name = argument;
    return true;
}

/* Whether the option asks for help or the version, which it prints. */
static bool tells(const cli_words *words, const char *option)
{
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
        fputs(words->help, stdout);
    else if (strcmp(option, "--version") == 0 || strcmp(option, "-V") == 0)
        printf("rlock %s\n", rlock_version());
    else
        return false;
    return true;
}

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1];
}

/* Takes the word that is no option: NAME, or with `runs` the first of COMMAND. *over: nothing else is to be parsed. */
static bool take_word(cli_words *words, char **at, bool *over)
{
    *over = words->runs && words->name;
    if (!*over)
        return take_name(words, *at);
    words->rest = at;
    return true;
}

bool options_read(cli_words *words, const cli_option *options, char **argv, int *code)
{
    bool over = false;
    *code = EXIT_USAGE;
    for (char **at = argv + 1; *at && !over; at++) {
        if (strcmp(*at, "--") == 0) {
            over = words->name;
            if (over)
                words->rest = at + 1;
            else
                words->name_is_marked = true;
        } else if (words->name_is_marked || !is_option(*at)) {
            if (!take_word(words, at, &over))
                return false;
        } else if (tells(words, *at)) {
            *code = EXIT_DONE;
            return false;
        } else if (!((*at)[1] == '-' ? read_long : read_short)(words, options, &at)) {
            return false;
        }
    }
    if (words->name || words->nameless || words->name_is_optional)
        return true;
    usage_error(words->command, "the NAME of the lock is missing: write rlock %s %s", words->command, words->form);
    return false;
}
