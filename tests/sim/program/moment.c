/* Moments: what a step or a fault of a plan may wait for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/moment.h"

#include "tests/sim/world/events.h"
#include "tests/sim/world/threads.h"

#include <string.h>

typedef struct sleeper {
    struct sleeper *next;
    moment which;
    const void *on;
} sleeper;

typedef struct planned {
    moment which; /* NO_MOMENT: it has come */
    int64_t until_ns;
    void (*run)(void *argument);
    void *argument;
} planned;

static sleeper *sleepers;
static planned all[PLAN_FAULTS];
static int count;
static const connection *latest;

moment moment_of(const char *script)
{
    static const struct {
        const char *part;
        moment which;
    } parts[] = {{"acquire", SCRIPT_TAKES}, {"release", SCRIPT_GIVES_BACK}, {"handoff", SCRIPT_GIVES_BACK}, {"give_up", SCRIPT_GIVES_BACK},
                 {"undo", SCRIPT_GIVES_BACK}, {"count_down", SCRIPT_GIVES_BACK}, {"add", SCRIPT_GIVES_BACK}, {"renew", SCRIPT_RENEWS}};
    const char *own = strrchr(script, '/');
    for (size_t i = 0; own && i < sizeof parts / sizeof *parts; i++) {
        if (strstr(own, parts[i].part))
            return parts[i].which;
    }
    return NO_MOMENT;
}

void moment_comes(moment which, const connection *by)
{
    if (which == NO_MOMENT)
        return;
    latest = by;
    for (const sleeper *one = sleepers; one; one = one->next) {
        if (one->which == which)
            threads_wake(one->on, 1, ~0u);
    }
    for (int i = 0; i < count; i++) {
        if (all[i].which != which)
            continue;
        all[i].which = NO_MOMENT;
        if (world_now_ns() < all[i].until_ns)
            all[i].run(all[i].argument);
    }
}

void moment_await(moment which, const void *on, int64_t until_ns)
{
    sleeper own = {.next = sleepers, .which = which, .on = on}, **at = &sleepers;
    sleepers = &own;
    thread_sleep(on, until_ns, ~0u, "a moment");
    while (*at != &own)
        at = &(*at)->next;
    *at = own.next;
}

void moment_when(moment which, int64_t until_ns, void (*run)(void *argument), void *argument)
{
    if (count < PLAN_FAULTS)
        all[count++] = (planned){.which = which, .until_ns = until_ns, .run = run, .argument = argument};
}

connection *moment_connection(void)
{
    connection *one;
    for (int i = 0; (one = connection_number(i)); i++) {
        if (one == latest)
            return one;
    }
    return NULL;
}
