/* Prints an inspection as JSON. All members are always present; a member that the object does not have is null. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspection.h"
#include "cli/json.h"
#include "cli/owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* null: no expiry, or no such key. */
static void print_ms(const char *member, int64_t ms)
{
    if (ms < 0)
        printf(",\"%s\":null", member);
    else
        printf(",\"%s\":%" PRId64, member, ms);
}

/* Prints a word of a fixed set, which needs no escapes. */
static void print_word(const char *member, const char *word)
{
    if (word)
        printf(",\"%s\":\"%s\"", member, word);
    else
        printf(",\"%s\":null", member);
}

static void print_owner(const char *owner)
{
    const char *number = owner_number(owner);
    fputs("\"owner\":", stdout);
    json_string(stdout, owner, strlen(owner));
    fputs(",\"client\":", stdout);
    json_string(stdout, owner, owner_client_length(owner));
    printf(",\"number\":%s", number ? number : "null");
}

/* null: not found. */
static void print_process(const rlock_process *process)
{
    if (!process) {
        fputs(",\"process\":null", stdout);
        return;
    }
    fputs(",\"process\":{\"host\":", stdout);
    json_string(stdout, process->host, strlen(process->host));
    printf(",\"pid\":%" PRId64 ",\"address\":", process->pid);
    json_string(stdout, process->address, strlen(process->address));
    putchar('}');
}

static void print_holders(const rlock_inspection *found)
{
    fputs(",\"holders\":[", stdout);
    for (size_t i = 0; i < found->holder_count; i++) {
        const rlock_holder *holder = &found->holders[i];
        fputs(i ? ",{" : "{", stdout);
        print_owner(holder->owner);
        printf(",\"hold_count\":%" PRId64, holder->hold_count);
        print_word("side", holder->side);
        print_ms("left_ms", holder->left_ms);
        print_process(rlock_inspection_process(found, holder->owner));
        putchar('}');
    }
    putchar(']');
}

static void print_waiters(const rlock_inspection *found)
{
    fputs(",\"waiters\":[", stdout);
    for (size_t i = 0; i < found->waiter_count; i++) {
        fputs(i ? ",{" : "{", stdout);
        print_owner(found->waiters[i].owner);
        print_ms("left_ms", found->waiters[i].left_ms);
        print_process(rlock_inspection_process(found, found->waiters[i].owner));
        putchar('}');
    }
    putchar(']');
}

static void print_permits(const rlock_inspection *found)
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
        print_ms("left_ms", found->permits[i].left_ms);
        putchar('}');
    }
    putchar(']');
}

void inspection_print_json(const char *name, const rlock_inspection *found)
{
    fputs("{\"name\":", stdout);
    json_string(stdout, name, strlen(name));
    printf(",\"kind\":\"%s\",\"locked\":%s", found->kind,
           found->has_permits    ? "null"
           : found->holder_count ? "true"
                                 : "false");
    print_ms("ttl_ms", found->ttl_ms);
    print_word("mode", found->mode);
    print_holders(found);
    print_waiters(found);
    if (found->has_token)
        printf(",\"token\":%" PRIu64, found->token);
    else
        fputs(",\"token\":null", stdout);
    print_permits(found);
    puts("}");
}
