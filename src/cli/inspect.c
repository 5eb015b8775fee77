/* rlock inspect: shows what is stored under a name, who holds it, and for how long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/server.h"

#include <inttypes.h>
#include <rlock/inspect.h>
#include <stdio.h>
#include <string.h>

/* --- an owner on the server: "<client id>:<number>" --- */

/* The length of the client id; the whole length if the text is not of this form. */
static size_t owner_client_length(const char *owner)
{
    const char *colon = strrchr(owner, ':');
    return colon ? (size_t)(colon - owner) : strlen(owner);
}

/* The digits of the number, inside `owner`; NULL: it has none. */
static const char *owner_number(const char *owner)
{
    const char *number = owner + owner_client_length(owner);
    number += *number == ':';
    size_t digits = strspn(number, "0123456789");
    return digits && digits < 20 && !number[digits] && (*number != '0' || digits == 1) ? number : NULL;
}

/* Prints "client <id>, number <n>"; what another program has written as `what`: "client <text>", "token <text>". */
static void print_client(const char *owner, const char *what)
{
    const char *number = owner_number(owner);
    size_t length = owner_client_length(owner);
    char client[64];
    printf("%s ", number ? "client" : what);
    if (!number || length >= sizeof client) {
        print_shown(stdout, owner);
        return;
    }
    memcpy(client, owner, length);
    client[length] = 0;
    print_shown(stdout, client);
    printf(", number %s", number);
}

static bool is_token(const rlock_inspection *found)
{
    return strcmp(found->kind, "token") == 0 || strcmp(found->kind, "signal") == 0;
}

/* --- as text --- */

/* Prints ", for 9.9 s more", followed by `unless`, for example " unless renewed". */
static void print_left(int64_t left_ms, const char *unless)
{
    char shown[DURATION_SHOWN];
    if (left_ms < 0)
        fputs(", without end", stdout);
    else if (left_ms == 0)
        fputs(", over", stdout);
    else
        printf(", for %s more%s", duration_show(left_ms, shown), unless);
}

static void print_lock(const rlock_inspection *found)
{
    if (found->holder_count == 0) {
        fputs("free", stdout);
    } else {
        printf("locked%s", !found->mode ? "" : strcmp(found->mode, "read") == 0 ? " for reading" : " for writing");
        print_left(found->ttl_ms, " unless renewed");
    }
    /* Any short text may be one; what this library writes is known by its form. */
    if (is_token(found) && !owner_number(found->holders[0].owner))
        fputs(strcmp(found->kind, "signal") == 0
                  ? " (a string with \"lock:\" before the name: a signal-list lock, if programs use it as one)"
                  : " (a string: a token lock, if programs use it as one)",
              stdout);
    else if (strcmp(found->kind, "free") != 0)
        printf(" (%s)", found->kind);
    putchar('\n');
}

/* A number may be a lock that a program has made itself, of INCR or SETNX. */
static void print_broken_lock(const rlock_inspection *found)
{
    printf("  if a program uses it as a lock (INCR, SETNX): it names no owner, so that any DEL frees it%s\n",
           found->ttl_ms < 0 ? ", and it has no TTL, so that it stays when its holder dies" : "");
}

static void print_semaphore(const rlock_inspection *found)
{
    printf("%" PRId64 " available", found->available);
    if (found->permits)
        printf(", %zu taken", found->permit_count);
    if (found->ttl_ms >= 0)
        print_left(found->ttl_ms, "");
    puts(found->permits ? " (permit-expirable semaphore)"
                        : " (a semaphore, or a latch with that count: both are stored as a number)");
    if (!found->permits && found->available > 0)
        print_broken_lock(found);
}

/* Prints "client …, number 1 (process 4711 on web-3, 10.0.0.7:51234)", as far as known. */
static void print_owner(const rlock_inspection *found, const char *owner)
{
    const rlock_process *process = rlock_inspection_process(found, owner);
    print_client(owner, is_token(found) ? "token" : "client");
    if (!process)
        return;
    printf(" (process %" PRId64 " on ", process->pid);
    print_shown(stdout, process->host);
    fputs(", ", stdout);
    print_shown(stdout, process->address);
    putchar(')');
}

static void print_holder(const rlock_inspection *found, const rlock_holder *holder)
{
    bool reads = holder->side && strcmp(holder->side, "read") == 0;
    int64_t values = found->value_counts ? found->value_counts[holder - found->holders] : 0;
    fputs(!holder->side ? "  held by " : reads ? "  read by " : "  written by ", stdout);
    print_owner(found, holder->owner);
    printf(", count %" PRId64, holder->hold_count);
    if (found->value_counts)
        printf(", %" PRId64 " value%s of the group", values, values == 1 ? "" : "s");
    if (reads || found->value_counts)
        print_left(holder->left_ms, " unless renewed");
    putchar('\n');
}

/* As text: one line, and one more for each holder, waiter and permit. */
static void print_text(const char *name, const rlock_inspection *found)
{
    print_shown(stdout, name);
    fputs(": ", stdout);
    if (found->has_permits)
        print_semaphore(found);
    else
        print_lock(found);
    for (size_t i = 0; i < found->holder_count; i++)
        print_holder(found, &found->holders[i]);
    for (size_t i = 0; i < found->waiter_count; i++) {
        printf("  waiter %zu: ", i + 1);
        print_owner(found, found->waiters[i].owner);
        print_left(found->waiters[i].left_ms, "");
        putchar('\n');
    }
    if (found->waiter_count && !found->holder_count)
        puts(
            "  nobody holds it; the waiters may be those of the same name with or without braces around it, which has the same queue");
    for (size_t i = 0; i < found->permit_count; i++) {
        printf("  permit %s", found->permits[i].id);
        print_left(found->permits[i].left_ms, "");
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
    const char *number = owner_number(owner);
    fputs("\"owner\":", stdout);
    json_string(owner, strlen(owner));
    fputs(",\"client\":", stdout);
    json_string(owner, owner_client_length(owner));
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
static void print_json(const char *name, const rlock_inspection *found)
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
    "Exit status: 0 locked or free; 64 usage; 69 no server; 76 the server refused,\n"
    "also when the key is none of these.\n";

static rlock_status inspect(rlock_client *client, const char *name, const cli_kind *kind, bool json)
{
    (void)kind; /* rlock_inspect finds the kind */
    rlock_inspection *found;
    rlock_status status = rlock_inspect(client, name, &found);
    if (status != RLOCK_OK)
        return status;
    /* If the user has no right to list clients, the processes stay unknown. */
    if (found->holder_count + found->waiter_count > 0 &&
        rlock_inspect_processes(client, name, found) == RLOCK_NO_MEMORY) {
        rlock_inspection_free(found);
        return RLOCK_NO_MEMORY;
    }
    if (json)
        print_json(name, found);
    else
        print_text(name, found);
    rlock_inspection_free(found);
    return RLOCK_OK;
}

int inspect_command(char **argv)
{
    return ask_command(argv, &(cli_question){.help = help, .ask = inspect});
}
