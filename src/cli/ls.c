/* rlock ls: lists the locks that are held. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/server.h"

#include <inttypes.h>
#include <rlock/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "rlock ls [OPTION…] [PATTERN] - list the locks that are held\n"
    "\n"
    "One line for each: kind, how long the server keeps it unless it is renewed, holder, name.\n"
    "PATTERN is as in Redis: * stands for any text, ? for one character, [ab] for one of them;\n"
    "put it in quotes. It goes through all keys with SCAN, on all masters of a cluster, which\n"
    "does not block the servers but takes its time where there are many keys. Locks that are\n"
    "taken or freed meanwhile may be missing.\n"
    "\n"
    "  -a, --all   strings, too: token and signal-list locks, semaphores and latches, and any\n"
    "              other short string, since all of these are stored alike\n"
    "  -l, --long  the holder's process, host and address, if the user may run CLIENT LIST\n"
    "  --json      one JSON object a line, with the members of rlock inspect --json\n" SERVER_HELP "\n"
    "Exit status: 0 listed, whether or not there were any; 64 usage; 69 no server;\n"
    "74 standard output could not be written; 76 the server refused.\n";

/* --- names, sorted, each once: SCAN may give one twice --- */

typedef struct names {
    char **all;
    size_t count, room;
    bool no_memory;
} names;

static bool add(const char *name, void *arg)
{
    names *self = arg;
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 64;
        char **more = realloc(self->all, room * sizeof *more);
        self->no_memory = !more;
        if (!more)
            return false;
        self->all = more;
        self->room = room;
    }
    self->all[self->count] = strdup(name);
    self->no_memory = !self->all[self->count];
    self->count += !self->no_memory;
    return !self->no_memory;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_free(names *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->all[i]);
    free(self->all);
}

/* --- one line --- */

static void print_holders(const rlock_inspection *found, bool long_form)
{
    const char *owner = found->holders[0].owner;
    const rlock_process *process = long_form ? rlock_inspection_process(found, owner) : NULL;
    if (process)
        describe_owner(stdout, found, owner);
    else
        print_shown(stdout, owner);
    if (found->holder_count > 1)
        printf(" and %zu more", found->holder_count - 1);
}

/* Whether it is the counter of a fenced lock, which is stored as a semaphore is. */
static bool is_token_counter(const char *name, const rlock_inspection *found)
{
    static const char prefix[] = "redisson_lock_token:";
    return strcmp(found->kind, "semaphore-or-latch") == 0 && strncmp(name, prefix, sizeof prefix - 1) == 0;
}

static void print_line(const char *name, const rlock_inspection *found, bool long_form)
{
    char left[DURATION_SHOWN];
    bool counts_tokens = is_token_counter(name, found);
    if (counts_tokens)
        printf("%-16s ", "token-counter");
    else if (found->mode)
        printf("%-16s ", strcmp(found->mode, "read") == 0 ? "read" : "write");
    else
        printf("%-16s ", strcmp(found->kind, "semaphore-or-latch") == 0 ? "number" : found->kind);
    printf("%12s  ", found->ttl_ms < 0 ? "without end" : duration_show(found->ttl_ms, left));
    if (counts_tokens)
        printf("last token %" PRId64, found->available);
    else if (found->has_permits)
        printf("%" PRId64 " available", found->available);
    else
        print_holders(found, long_form);
    fputs("  ", stdout);
    print_shown(stdout, name);
    putchar('\n');
}

/* --- the command --- */

typedef struct ls_options {
    bool all, long_form, json;
} ls_options;

/* What could not be shown, since the user may not read all of its keys. */
typedef struct unread {
    size_t count;
    const char *first;
} unread;

static void note_unread(unread *passed_over, const char *name)
{
    if (passed_over->count++ == 0)
        passed_over->first = name;
}

/* A user who may read no more than his own locks need not care: no failure. */
static void tell_unread(const unread *passed_over)
{
    char first[SHOWN_SIZE + 2];
    if (passed_over->count > 0)
        complain("names with keys that the user may not read are not shown: %zu; rlock inspect %s says more of the first",
                 passed_over->count, typed_name(passed_over->first, first));
}

static bool last_error_says(const char *words)
{
    return strstr(rlock_last_error(), words);
}

/* Shows one, unless it was freed, or turned out to be something else. */
static rlock_status show(rlock_client *client, const char *name, const ls_options *options, unread *passed_over)
{
    rlock_inspection *found;
    rlock_status status = rlock_inspect(client, name, &found);
    if (status == RLOCK_SERVER && (last_error_says("WRONGTYPE") || last_error_says("it is not a lock")))
        return RLOCK_OK;
    if (status == RLOCK_SERVER && last_error_says("allow the ACL user all keys")) {
        note_unread(passed_over, name);
        return RLOCK_OK;
    }
    if (status != RLOCK_OK)
        return status;
    if (found->holder_count == 0 && !found->has_permits) {
        rlock_inspection_free(found);
        return RLOCK_OK;
    }
    /* Without the right to CLIENT LIST the processes stay unknown. */
    if (options->long_form || options->json)
        status = rlock_inspect_processes(client, name, found);
    if (options->json)
        inspect_print_json(name, found);
    else
        print_line(name, found, options->long_form);
    rlock_inspection_free(found);
    return RLOCK_OK;
}

static rlock_status list(rlock_client *client, const char *pattern, const ls_options *options)
{
    names found = {0};
    unread passed_over = {0};
    rlock_status status = rlock_find(client, pattern, RLOCK_FIND_LOCKS, add, &found);
    if (status == RLOCK_OK && options->all && !found.no_memory)
        status = rlock_find(client, pattern, RLOCK_FIND_STRINGS, add, &found);
    if (found.no_memory) {
        complain("out of memory for the names of %zu locks; a narrower PATTERN finds fewer", found.count);
        names_free(&found);
        return RLOCK_NO_MEMORY;
    }
    if (found.count)
        qsort(found.all, found.count, sizeof *found.all, compare);
    for (size_t i = 0; status == RLOCK_OK && i < found.count; i++) {
        if (i == 0 || strcmp(found.all[i], found.all[i - 1]) != 0)
            status = show(client, found.all[i], options, &passed_over);
    }
    if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    tell_unread(&passed_over);
    names_free(&found);
    return status;
}

int ls_command(char **argv)
{
    cli_server server = {0};
    ls_options found = {0};
    const cli_option options[] = {SERVER_OPTIONS(server),
                                  {.name = "--all", .letter = 'a', .flag = &found.all},
                                  {.name = "--long", .letter = 'l', .flag = &found.long_form},
                                  {.name = "--json", .flag = &found.json},
                                  {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…] [PATTERN]", .help = help, .name_is_optional = true};
    int code;
    if (!options_read(&words, options, argv, &code))
        return code;
    if (words.rest)
        return usage_error(words.command, "nothing may follow PATTERN, not even --");
    if (words.name && !*words.name)
        return usage_error(words.command, "the PATTERN is empty: leave it out to see all locks");
    rlock_client *client;
    code = server_open(&client, &server);
    if (code != EXIT_DONE)
        return code;
    code = exit_for(list(client, words.name, &found));
    rlock_client_close(client);
    return code;
}
