/* Unheard: the head of the server's queue that did not hear that the lock is free, and may be dead. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/unheard.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/session.h"

#include <stdlib.h>
#include <string.h>

static bool is_in_use(const rli_engine *engine, uint64_t number)
{
    for (size_t i = 0; i < engine->sessions.bucket_count; i++) {
        for (const rli_link *link = engine->sessions.buckets[i]; link; link = link->next) {
            if (RLI_ITEM(rli_session, link, link)->number == number)
                return true;
        }
    }
    return false;
}

/* Whether it is a place of this client that none of its sessions has. */
static bool is_left_over(const rli_engine *engine, const char *head)
{
    size_t length = strlen(engine->client_id);
    char *end;
    if (strncmp(head, engine->client_id, length) != 0 || head[length] != ':')
        return false;
    uint64_t number = strtoull(head + length + 1, &end, 10);
    return !*end && !is_in_use(engine, number);
}

void rli_unheard_note(rli_attempt *attempt, const char *unheard)
{
    bool same = unheard && attempt->unheard && strcmp(unheard, attempt->unheard) == 0;
    if (same && rli_now_ms() < attempt->unheard_ms + RLI_UNHEARD_MS)
        return;
    free(attempt->unheard);
    attempt->unheard = unheard ? strdup(unheard) : NULL; /* out of memory: a later answer finds it again */
    attempt->unheard_ms = rli_now_ms();
    /* One waiter is enough to have all of them removed. */
    if (unheard && !same && !attempt->waiter.previous && is_left_over(attempt->engine, unheard)) {
        attempt->unheard_ms -= RLI_UNHEARD_MS;
        attempt->denied = 0; /* it asks again soon: there may be many */
    }
}

const char *rli_unheard_again(const char *unheard, int64_t unheard_ms)
{
    return rli_now_ms() >= unheard_ms + RLI_UNHEARD_MS ? unheard : "";
}
