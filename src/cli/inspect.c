/* rlock inspect: who holds a lock, and for how long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/json.h"
#include "cli/message.h"
#include "cli/server.h"

#include <inttypes.h>
#include <rlock/inspect.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "rlock inspect [OPTION…] NAME - show who holds a lock, and for how long\n"
    "\n"
    "  --json      one JSON object: name, kind, locked, ttl_ms (null: free, or without\n"
    "              end) and holders, each with owner, client, number and hold_count\n" SERVER_HELP
    "\n"
    "Exit status: 0 locked or free; 64 usage; 69 no server; 76 the server refused,\n"
    "also when the key is not a lock.\n";

/* An owner is "<client id>:<number>"; the colon, or its end when another program wrote it. */
static size_t client_length(const char *owner)
{
    const char *colon = strrchr(owner, ':');
    return colon ? (size_t)(colon - owner) : strlen(owner);
}

static const char *number_of(const char *owner)
{
    const char *number = owner + client_length(owner);
    number += *number == ':';
    size_t digits = strspn(number, "0123456789");
    return digits && digits < 20 && !number[digits] && (*number != '0' || digits == 1) ? number : NULL;
}

static void print_text(const char *name, const rlock_inspection *found)
{
    char shown[DURATION_SHOWN];
    print_shown(stdout, name);
    if (found->ttl_ms == -2) {
        puts(": free");
        return;
    }
    if (found->ttl_ms < 0)
        printf(": locked, without end (%s)\n", found->kind);
    else
        printf(": locked, for %s more unless renewed (%s)\n", duration_show(found->ttl_ms, shown), found->kind);
    for (size_t i = 0; i < found->holder_count; i++) {
        const char *owner = found->holders[i].owner, *number = number_of(owner);
        char client[64];
        fputs("  held by client ", stdout);
        if (number && client_length(owner) < sizeof client) {
            memcpy(client, owner, client_length(owner));
            client[client_length(owner)] = 0;
            print_shown(stdout, client);
            printf(", number %s", number);
        } else {
            print_shown(stdout, owner);
        }
        printf(", count %" PRId64 "\n", found->holders[i].hold_count);
    }
}

static void print_holder(const rlock_holder *holder)
{
    const char *number = number_of(holder->owner);
    size_t length = client_length(holder->owner);
    fputs("{\"owner\":", stdout);
    json_string(stdout, holder->owner, strlen(holder->owner));
    fputs(",\"client\":", stdout);
    json_string(stdout, holder->owner, length);
    printf(",\"number\":%s,\"hold_count\":%" PRId64 "}", number ? number : "null", holder->hold_count);
}

static void print_json(const char *name, const rlock_inspection *found)
{
    fputs("{\"name\":", stdout);
    json_string(stdout, name, strlen(name));
    printf(",\"kind\":\"%s\",\"locked\":%s,\"ttl_ms\":", found->kind, found->ttl_ms == -2 ? "false" : "true");
    if (found->ttl_ms < 0)
        fputs("null", stdout);
    else
        printf("%" PRId64, found->ttl_ms);
    fputs(",\"holders\":[", stdout);
    for (size_t i = 0; i < found->holder_count; i++) {
        if (i)
            putchar(',');
        print_holder(&found->holders[i]);
    }
    puts("]}");
}

static rlock_status inspect(rlock_client *client, const char *name, bool json)
{
    rlock_inspection *found;
    rlock_status status = rlock_inspect(client, name, &found);
    if (status != RLOCK_OK)
        return status;
    if (json)
        print_json(name, found);
    else
        print_text(name, found);
    rlock_inspection_free(found);
    return RLOCK_OK;
}

int inspect_command(char **argv)
{
    return ask_command(argv, help, inspect);
}
