/* Yield: when a local waiter must not ask the server, because a local thread has the lock or others come first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/yield.h"

#include "base/clock.h"
#include "engine/session.h"

/* The quiet period: for this long after a grant, the holder is expected to hand the lock over, and nobody asks. If
 * something became of the lock without our hearing, that is found out when the period ends. */
#define QUIET_MS 10

/* After this many handoffs, or this much time, within one process, the release script checks for waiters elsewhere;
 * sooner where others listen and took the lock last time: they hear of a free lock and only then ask, so they miss
 * some. */
#define HANDED_MOST               16
#define HANDED_MOST_BESIDE_OTHERS 10
#define HANDED_MS                 10

/* FREE_MS: how long a lock stays free for those that poll it elsewhere, as nobody knows whether there are any.
 * FREE_EVERY_MS: how often, when not all waiters poll. */
#define FREE_MS       5
#define FREE_EVERY_MS 1000

/* How long others get from the message to their request. */
#define YIELD_MS 5

/* Somebody may listen who never wants the lock. So after this many joined yields in a row in which others did not take
 * it, only every 2nd, 4th… is joined, at last every 64th. */
#define MISSED_FEW  3
#define MISSED_MOST (MISSED_FEW + 6)

/* How long the waiter that was told has for that, and others to take the lock. */
#define LOOKS_MS 50

void rli_yield_begin(rli_yield *yield, rli_missed *missed)
{
    *yield = (rli_yield){.since_ms = rli_now_ms(), .missed = missed};
    yield->open_ms = yield->since_ms;
}

void rli_yield_note_holder(rli_yield *yield, rli_session *holder, bool handed)
{
    yield->holder = holder;
    yield->held_ms = rli_now_ms();
    yield->yield_until_ms = yield->looks_ms = 0;
    yield->beside_others = yield->beside_others && yield->chances_owed == 0;
    yield->chances_owed = 0;
    if (handed) {
        yield->handed++;
        return;
    }
    yield->handed = 0;
    yield->since_ms = yield->open_ms = yield->held_ms;
}

void rli_yield_drop_holder(rli_yield *yield, const rli_session *holder)
{
    if (yield->holder == holder)
        yield->holder = NULL;
}

int64_t rli_yield_quiet_until(const rli_yield *yield)
{
    const rli_session *holder = yield->holder;
    return holder ? rli_earlier(yield->held_ms + QUIET_MS, holder->deadline_ms) : 0;
}

bool rli_yield_must_queue(const rli_yield *yield)
{
    if (!yield->holder && !yield->yield_until_ms)
        return false;
    int64_t now_ms = rli_now_ms();
    return now_ms < yield->yield_until_ms || now_ms < rli_yield_quiet_until(yield);
}

/* A message that is not our own: one of the others has had the lock. If more are owed a chance, they come first now. */
static void note_chance(rli_yield *yield)
{
    yield->chances_owed--;
    if (yield->joined)
        rli_yield_note_turn(yield);
    yield->yield_until_ms = yield->chances_owed > 0 ? rli_after_ms(YIELD_MS) : 0;
}

/* Notes that a joined yield has ended, if so, in which none of the others had the lock. */
static void note_missed(rli_yield *yield, int64_t now_ms)
{
    rli_missed *missed = yield->missed;
    if (!yield->joined || yield->chances_owed == 0 || now_ms < yield->yield_until_ms)
        return;
    missed->in_a_row += missed->in_a_row < MISSED_MOST;
    missed->unheeded = missed->in_a_row > MISSED_FEW ? (1 << (missed->in_a_row - MISSED_FEW)) - 1 : 0;
    yield->joined = yield->beside_others = false;
    yield->chances_owed = 0;
}

bool rli_yield_take_news(rli_yield *yield, rli_yield_seen *seen, bool heard, bool told, int64_t *until_ms)
{
    if (seen->yields != yield->yields)
        *seen = (rli_yield_seen){.yields = yield->yields};
    if (heard && told && yield->chances_owed > 0) {
        seen->signs++;
        if (seen->signs > yield->own_message || rli_now_ms() >= yield->yield_until_ms)
            note_chance(yield);
    }
    int64_t now_ms = rli_now_ms();
    note_missed(yield, now_ms);
    int64_t quiet_ms = rli_yield_quiet_until(yield), later_ms = quiet_ms > yield->looks_ms ? quiet_ms : yield->looks_ms;
    *until_ms = now_ms < yield->yield_until_ms ? yield->yield_until_ms : later_ms;
    return now_ms < yield->yield_until_ms || (!heard && now_ms < *until_ms);
}

bool rli_yield_is_due(const rli_yield *yield)
{
    int most = yield->beside_others ? HANDED_MOST_BESIDE_OTHERS : HANDED_MOST;
    return yield->handed >= most || rli_now_ms() >= yield->since_ms + HANDED_MS;
}

bool rli_yield_end_streak(rli_yield *yield, bool spins)
{
    int64_t end_ms = spins ? yield->since_ms + HANDED_MS : yield->open_ms + FREE_EVERY_MS;
    bool over = yield->handed > 0 && rli_now_ms() >= end_ms;
    if (over) {
        yield->yield_until_ms = rli_after_ms(FREE_MS);
        yield->yields++;
        yield->chances_owed = 0;
    }
    return over;
}

void rli_yield_to_others(rli_yield *yield)
{
    yield->yield_until_ms = rli_after_ms(YIELD_MS);
    yield->yields++;
    yield->chances_owed = 1;                                 /* at least one; rli_yield_note_others gives the number */
    yield->own_message = yield->listening && !yield->guards; /* guards hear RLI_OTHERS_FIRST with it */
    yield->joined = false;
    yield->looks_ms = 0;
}

bool rli_yield_join(rli_yield *yield)
{
    int64_t now_ms = rli_now_ms();
    bool yields = now_ms < yield->yield_until_ms;
    if (yields && yield->joined)
        return true;
    note_missed(yield, now_ms);
    if ((yield->holder && !yields) || yield->missed->unheeded > 0) {
        yield->missed->unheeded -= yield->missed->unheeded > 0;
        return false;
    }
    /* Or it is that of a release here, whose answer comes later than what it tells. */
    if (!yields)
        rli_yield_to_others(yield);
    yield->own_message = false;
    yield->joined = yield->beside_others = true;
    return true;
}

void rli_yield_note_turn(rli_yield *yield)
{
    *yield->missed = (rli_missed){0};
}

/* A new row of handoffs begins. */
static void begin_row(rli_yield *yield)
{
    yield->handed = 0;
    yield->since_ms = rli_now_ms();
}

void rli_yield_note_others(rli_yield *yield, int others)
{
    yield->yield_until_ms = others > 0 ? rli_after_ms(YIELD_MS) : 0;
    yield->chances_owed = others > 0 ? others : 0;
    yield->beside_others = others > 0;
    begin_row(yield);
}

void rli_yield_note_left(rli_yield *yield)
{
    if (yield->joined) { /* a waiter here is told already */
        begin_row(yield);
        return;
    }
    rli_yield_note_others(yield, 0);
    yield->beside_others = true;
    yield->looks_ms = rli_after_ms(LOOKS_MS);
}
