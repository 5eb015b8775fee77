/* Chances: when not to ask, since a thread of this process has the lock, or others are to come first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/chance.h"

#include "base/clock.h"
#include "engine/holds.h"

/* For so long after it was granted here, its holder is expected to hand it over: nobody asks. Whatever may have
 * become of it without our hearing is found out when that is over. */
#define CALM_MS 10

/* So often, and for so long, it goes round in one process while others wait elsewhere. */
#define HANDED_MOST 16
#define HANDED_MS 10

/* What others have to come first, from their message to their question. */
#define ASIDE_MS 5

void rli_chances_begin(rli_chances *chances)
{
    *chances = (rli_chances){.since_ms = rli_now_ms()};
}

void rli_chances_hold(rli_chances *chances, rli_session *holder, bool handed)
{
    chances->holder = holder;
    chances->held_ms = rli_now_ms();
    chances->aside_ms = 0;
    chances->owed = 0;
    if (handed) {
        chances->handed++;
        return;
    }
    chances->handed = 0;
    chances->since_ms = chances->held_ms;
}

void rli_chances_drop(rli_chances *chances, const rli_session *holder)
{
    if (chances->holder == holder)
        chances->holder = NULL;
}

int64_t rli_chances_calm_until(const rli_chances *chances)
{
    const rli_session *holder = chances->holder;
    return holder ? rli_earlier(chances->held_ms + CALM_MS, holder->deadline_ms) : 0;
}

bool rli_chances_are_gone(const rli_chances *chances)
{
    if (!chances->holder && !chances->aside_ms)
        return false;
    int64_t now_ms = rli_now_ms();
    return now_ms < chances->aside_ms || now_ms < rli_chances_calm_until(chances);
}

/* A message that is not our own: one of the others has had the lock. If more are owed a turn, they come first now. */
static void note_turn(rli_chances *chances)
{
    chances->owed--;
    chances->aside_ms = chances->owed > 0 ? rli_after_ms(ASIDE_MS) : 0;
}

bool rli_chance_is_gone(rli_chances *chances, rli_chance *own, bool heard, int64_t *until_ms)
{
    if (own->aside != chances->asides)
        *own = (rli_chance){.aside = chances->asides};
    if (heard && chances->owed > 0) {
        own->signs++;
        if (own->signs > chances->listening || rli_now_ms() >= chances->aside_ms)
            note_turn(chances);
    }
    int64_t now_ms = rli_now_ms();
    *until_ms = now_ms < chances->aside_ms ? chances->aside_ms : rli_chances_calm_until(chances);
    return now_ms < chances->aside_ms || (!heard && now_ms < *until_ms);
}

bool rli_chances_are_due(const rli_chances *chances)
{
    return chances->handed >= HANDED_MOST || rli_now_ms() >= chances->since_ms + HANDED_MS;
}

void rli_chances_stand_aside(rli_chances *chances)
{
    chances->aside_ms = rli_after_ms(ASIDE_MS);
    chances->asides++;
    chances->owed = 1; /* at least; it is about to be heard how many */
}

void rli_chances_were_given(rli_chances *chances, int others)
{
    chances->aside_ms = others > 0 ? rli_after_ms(ASIDE_MS) : 0;
    chances->owed = others > 0 ? others : 0;
    chances->handed = 0;
    chances->since_ms = rli_now_ms();
}
