/* Chances: when not to ask, since a thread of this process has the lock, or others are to come first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/yield.h"

#include "base/clock.h"
#include "engine/holds.h"

/* For so long after it was granted here, its holder is expected to hand it over: nobody asks. Whatever may have
 * become of it without our hearing is found out when that is over. */
#define CALM_MS 10

/* So often, and for so long, it goes round in one process while others wait elsewhere. */
#define HANDED_MOST 16
#define HANDED_MS   10

/* What others have to come first, from their message to their question. */
#define ASIDE_MS 5

void rli_yield_begin(rli_yield *yield)
{
    *yield = (rli_yield){.since_ms = rli_now_ms()};
}

void rli_yield_note_holder(rli_yield *yield, rli_session *holder, bool handed)
{
    yield->holder = holder;
    yield->held_ms = rli_now_ms();
    yield->yield_until_ms = 0;
    yield->turns_owed = 0;
    if (handed) {
        yield->handed++;
        return;
    }
    yield->handed = 0;
    yield->since_ms = yield->held_ms;
}

void rli_yield_drop_holder(rli_yield *yield, const rli_session *holder)
{
    if (yield->holder == holder)
        yield->holder = NULL;
}

int64_t rli_yield_calm_until(const rli_yield *yield)
{
    const rli_session *holder = yield->holder;
    return holder ? rli_earlier(yield->held_ms + CALM_MS, holder->deadline_ms) : 0;
}

bool rli_yield_defers_newcomers(const rli_yield *yield)
{
    if (!yield->holder && !yield->yield_until_ms)
        return false;
    int64_t now_ms = rli_now_ms();
    return now_ms < yield->yield_until_ms || now_ms < rli_yield_calm_until(yield);
}

/* A message that is not our own: one of the others has had the lock. If more are owed a turn, they come first now. */
static void note_turn(rli_yield *yield)
{
    yield->turns_owed--;
    yield->yield_until_ms = yield->turns_owed > 0 ? rli_after_ms(ASIDE_MS) : 0;
}

bool rli_yield_defers(rli_yield *yield, rli_yield_seen *own, bool heard, int64_t *until_ms)
{
    if (own->aside != yield->yields)
        *own = (rli_yield_seen){.aside = yield->yields};
    if (heard && yield->turns_owed > 0) {
        own->signs++;
        if (own->signs > yield->listening || rli_now_ms() >= yield->yield_until_ms)
            note_turn(yield);
    }
    int64_t now_ms = rli_now_ms();
    *until_ms = now_ms < yield->yield_until_ms ? yield->yield_until_ms : rli_yield_calm_until(yield);
    return now_ms < yield->yield_until_ms || (!heard && now_ms < *until_ms);
}

bool rli_yield_is_due(const rli_yield *yield)
{
    return yield->handed >= HANDED_MOST || rli_now_ms() >= yield->since_ms + HANDED_MS;
}

void rli_yield_to_others(rli_yield *yield)
{
    yield->yield_until_ms = rli_after_ms(ASIDE_MS);
    yield->yields++;
    yield->turns_owed = 1; /* at least; it is about to be heard how many */
}

void rli_yield_note_others(rli_yield *yield, int others)
{
    yield->yield_until_ms = others > 0 ? rli_after_ms(ASIDE_MS) : 0;
    yield->turns_owed = others > 0 ? others : 0;
    yield->handed = 0;
    yield->since_ms = rli_now_ms();
}
