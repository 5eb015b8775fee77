/* Asleep: whether a waiter of C has gone so far that nothing but a message or a time wakes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/asleep.h"

#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_MS 5000

static int64_t count_in(const char *stats, const char *command, const char *what)
{
    char field[64];
    snprintf(field, sizeof field, "cmdstat_%s:", command);
    const char *line = strstr(stats, field), *found = line ? strstr(line, what) : NULL;
    return found ? strtoll(found + strlen(what), NULL, 10) : 0;
}

int64_t scripts_ended(void)
{
    char *stats = server_text(stage.server, "INFO commandstats");
    int64_t times = count_in(stats, "evalsha", "calls=") - count_in(stats, "evalsha", "failed_calls=") +
                    count_in(stats, "eval", "calls=") - count_in(stats, "eval", "failed_calls=");
    free(stats);
    return times;
}

static bool is_listened(void)
{
    return channels_listened() > 0;
}

void await_asleep(actor *waiter, int64_t before, bool listens)
{
    for (int64_t end_ms = limit_end_ms(LIMIT_MS); scripts_ended() == before || (listens && !is_listened()); pass_ms(1))
        cr_assert(now_ms() < end_ms, "C's waiter does not %s", scripts_ended() == before ? "ask" : "listen");
    cr_assert(actor_asleep(waiter, LIMIT_MS), "C's waiter does not sleep");
}
