/* Prints an inspection as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/duration.h"
#include "cli/inspection.h"
#include "cli/message.h"
#include "cli/owner.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
    if (strcmp(found->kind, "free") != 0)
        printf(" (%s)", found->kind);
    putchar('\n');
}

static void print_semaphore(const rlock_inspection *found)
{
    printf("%" PRId64 " available", found->available);
    if (found->permits)
        printf(", %zu taken", found->permit_count);
    if (found->ttl_ms >= 0)
        print_left(found->ttl_ms, "");
    puts(found->permits ? " (permit-expirable semaphore)"
                        : " (a semaphore, or a latch with that count: a number alone does not tell)");
}

/* Prints "client …, number 1 (process 4711 on web-3, 10.0.0.7:51234)", as far as known. */
static void print_owner(const rlock_inspection *found, const char *owner)
{
    const rlock_process *process = rlock_inspection_process(found, owner);
    owner_print(stdout, owner);
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
    fputs(!holder->side ? "  held by " : reads ? "  read by " : "  written by ", stdout);
    print_owner(found, holder->owner);
    printf(", count %" PRId64, holder->hold_count);
    if (reads)
        print_left(holder->left_ms, " unless renewed");
    putchar('\n');
}

void inspection_print_text(const char *name, const rlock_inspection *found)
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
            "  nobody holds it; the waiters may wait for the same name with or without braces around it, whose queue this "
            "also is");
    for (size_t i = 0; i < found->permit_count; i++) {
        printf("  permit %s", found->permits[i].id);
        print_left(found->permits[i].left_ms, "");
        putchar('\n');
    }
    if (found->has_token)
        printf("  last token %" PRIu64 "\n", found->token);
}
