/* rlock inspect: shows what is stored under a name, who holds it, and for how long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/server.h"

#include <inttypes.h>
#include <rlock/inspect.h>
#include <stdio.h>
#include <string.h>

/* --- as text --- */

static void print_lock(const rlock_inspection *found)
{
    if (found->holder_count == 0) {
        fputs("free", stdout);
    } else {
        printf("locked%s", !found->mode ? "" : strcmp(found->mode, "read") == 0 ? " for reading" : " for writing");
        describe_left(stdout, found->ttl_ms, " unless renewed");
    }
    /* Any short text may be one; what this library writes is known by its form. */
    if (describe_is_token(found) && !describe_number(found->holders[0].owner))
        fputs(strcmp(found->kind, "signal") == 0
                  ? " (a string with \"lock:\" before the name: a signal-list lock, if programs use it as one)"
                  : " (a string: a token lock, if programs use it as one)",
              stdout);
    else if (strcmp(found->kind, "free") != 0)
        printf(" (%s)", found->kind);
    putchar('\n');
}

static void print_semaphore(const rlock_inspection *found)
{
    printf("%" PRId64 " available", found->available);
    if (found->permits)
        printf(", %zu taken", found->permit_count);
    if (found->ttl_ms >= 0)
        describe_left(stdout, found->ttl_ms, "");
    puts(found->permits ? " (permit-expirable semaphore)"
                        : " (a semaphore, or a latch with that count: both are stored as a number)");
    if (!found->permits && found->available > 0)
        puts("  (if it is meant as a lock, see docs/broken-locks.md)");
}

/* As text: one line, and one more for each holder, waiter and permit. */
static void print_text(const char *name, const rlock_inspection *found, bool may_list)
{
    print_shown(stdout, name);
    fputs(": ", stdout);
    if (found->has_permits)
        print_semaphore(found);
    else
        print_lock(found);
    for (size_t i = 0; i < found->holder_count; i++) {
        fputs("  ", stdout);
        describe_holder(stdout, found, &found->holders[i]);
        putchar('\n');
    }
    if (!may_list)
        puts("  (process and host unknown: the user has no right to CLIENT LIST)");
    for (size_t i = 0; i < found->waiter_count; i++) {
        printf("  waiter %zu: ", i + 1);
        describe_owner(stdout, found, found->waiters[i].owner);
        describe_left(stdout, found->waiters[i].left_ms, "");
        putchar('\n');
    }
    if (found->waiter_count && !found->holder_count)
        puts(
            "  nobody holds it: the next waiter takes it in a moment; or its place is of a wait that is over, and will be\n"
            "  passed over; or it waits for the same name with or without braces around it, which has the same queue");
    for (size_t i = 0; i < found->permit_count; i++) {
        printf("  permit %s", found->permits[i].id);
        describe_left(stdout, found->permits[i].left_ms, "");
        putchar('\n');
    }
    if (found->has_token)
        printf("  last token %" PRIu64 "\n", found->token);
}

/* --- as JSON --- */

/* null: no expiry, or no such key. */
static void print_json_ms(const char *member, int64_t ms)
{
    if (ms < 0)
        printf(",\"%s\":null", member);
    else
        printf(",\"%s\":%" PRId64, member, ms);
}

/* Prints a word of a fixed set, which needs no escapes. */
static void print_json_word(const char *member, const char *word)
{
    if (word)
        printf(",\"%s\":\"%s\"", member, word);
    else
        printf(",\"%s\":null", member);
}

static void print_json_owner(const char *owner)
{
    const char *number = describe_number(owner);
    fputs("\"owner\":", stdout);
    json_string(owner, strlen(owner));
    fputs(",\"client\":", stdout);
    json_string(owner, describe_client_length(owner));
    printf(",\"number\":%s", number ? number : "null");
}

/* null: not found. */
static void print_json_process(const rlock_process *process)
{
    if (!process) {
        fputs(",\"process\":null", stdout);
        return;
    }
    fputs(",\"process\":{\"host\":", stdout);
    json_string(process->host, strlen(process->host));
    printf(",\"pid\":%" PRId64 ",\"address\":", process->pid);
    json_string(process->address, strlen(process->address));
    putchar('}');
}

static void print_json_holders(const rlock_inspection *found)
{
    fputs(",\"holders\":[", stdout);
    for (size_t i = 0; i < found->holder_count; i++) {
        const rlock_holder *holder = &found->holders[i];
        fputs(i ? ",{" : "{", stdout);
        print_json_owner(holder->owner);
        printf(",\"hold_count\":%" PRId64, holder->hold_count);
        print_json_word("side", holder->side);
        print_json_ms("left_ms", holder->left_ms);
        if (found->value_counts)
            print_json_ms("values", found->value_counts[i]);
        print_json_process(rlock_inspection_process(found, holder->owner));
        putchar('}');
    }
    putchar(']');
}

static void print_json_waiters(const rlock_inspection *found)
{
    fputs(",\"waiters\":[", stdout);
    for (size_t i = 0; i < found->waiter_count; i++) {
        fputs(i ? ",{" : "{", stdout);
        print_json_owner(found->waiters[i].owner);
        print_json_ms("left_ms", found->waiters[i].left_ms);
        print_json_process(rlock_inspection_process(found, found->waiters[i].owner));
        putchar('}');
    }
    putchar(']');
}

static void print_json_permits(const rlock_inspection *found)
{
    if (found->has_permits)
        printf(",\"available\":%" PRId64, found->available);
    else
        fputs(",\"available\":null", stdout);
    if (!found->permits) {
        fputs(",\"permits\":null", stdout);
        return;
    }
    fputs(",\"permits\":[", stdout);
    for (size_t i = 0; i < found->permit_count; i++) {
        printf("%s{\"id\":\"%s\"", i ? "," : "", found->permits[i].id);
        print_json_ms("left_ms", found->permits[i].left_ms);
        putchar('}');
    }
    putchar(']');
}

/* As one JSON object on one line. All members are always present; one that the object does not have is null. */
void inspect_print_json(const char *name, const rlock_inspection *found)
{
    fputs("{\"name\":", stdout);
    json_string(name, strlen(name));
    printf(",\"kind\":\"%s\",\"locked\":%s", found->kind,
           found->has_permits    ? "null"
           : found->holder_count ? "true"
                                 : "false");
    print_json_ms("ttl_ms", found->ttl_ms);
    print_json_word("mode", found->mode);
    print_json_holders(found);
    print_json_waiters(found);
    if (found->has_token)
        printf(",\"token\":%" PRIu64, found->token);
    else
        fputs(",\"token\":null", stdout);
    print_json_permits(found);
    puts("}");
}

/* --- the command --- */

static const char help[] =
    "rlock inspect [OPTION…] NAME - show what NAME is, who holds it, and for how long\n"
    "\n"
    "Shows locks (with the queue of a fair lock and the last token of a fenced one),\n"
    "read-write locks, semaphores (with the acquired permits, if they have leases) and\n"
    "latches. Kinds that are stored alike cannot be told apart. Holders and waiters that\n"
    "use rlock without a clientName are shown with process, host and address if the user\n"
    "may run CLIENT LIST.\n"
    "\n"
    "  --json      print one JSON object: name, kind, locked, ttl_ms (null: nothing there, or\n"
    "              no expiry), mode, holders, waiters, token, available, permits; see the manual\n" SERVER_HELP "\n"
    "Exit status: 0 locked or free; 64 usage; 69 no server; 74 standard output\n"
    "could not be written; 76 the server refused, also when the key is none of these.\n";

static int inspect(rlock_client *client, const char *name, const cli_kind *kind, bool json)
{
    (void)kind; /* rlock_inspect finds the kind */
    rlock_inspection *found;
    rlock_status status = rlock_inspect(client, name, &found);
    if (status != RLOCK_OK)
        return complain_failed(status);
    /* If the user has no right to list clients, the processes stay unknown. */
    if (found->holder_count + found->waiter_count > 0)
        status = rlock_inspect_processes(client, name, found);
    bool may_list = status != RLOCK_SERVER || !strstr(rlock_last_error(), "NOPERM");
    if (status == RLOCK_NO_MEMORY) {
        rlock_inspection_free(found);
        return complain_failed(RLOCK_NO_MEMORY);
    }
    if (json)
        inspect_print_json(name, found);
    else
        print_text(name, found, may_list);
    rlock_inspection_free(found);
    return EXIT_DONE;
}

int inspect_command(char **argv)
{
    return ask_command(argv, &(cli_question){.help = help, .ask = inspect});
}
