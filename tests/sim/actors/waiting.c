/* Waiting, as Redisson does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/actors/actor.h"

#define MS INT64_C(1000000)
/* Between tries when the server does not answer. */
#define TROUBLED_NS (300 * MS)
/* Where the lock is free and it is another's turn; Redisson asks again at once. */
#define TURN_NS (50 * MS)

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* Of spin locks: the default back-off. */
static outcome spin(actor *self, const trying *by)
{
    int64_t pause_ms = 1, left_ms;
    for (int64_t turn = 1;; turn++) {
        outcome got = by->once(self, by->with, &left_ms);
        if (got == TAKEN || world_now_ns() >= by->until_ns)
            return got;
        actor_pause(self, earlier(by->until_ns - world_now_ns(), pause_ms * MS));
        pause_ms = 2 * pause_ms + (int64_t)world_chance((uint64_t)turn);
        pause_ms = pause_ms > 128 ? 128 : pause_ms;
    }
}

outcome actor_await(actor *self, const trying *by)
{
    int64_t left_ms = -1;
    if (!by->channel)
        return spin(self, by);
    outcome got = by->once(self, by->with, &left_ms);
    while (got != TAKEN && world_now_ns() < by->until_ns) {
        if (!actor_listen(self, by->channel)) {
            actor_pause(self, earlier(TROUBLED_NS, by->until_ns - world_now_ns()));
            continue;
        }
        int64_t heard = self->heard;
        got = by->once(self, by->with, &left_ms);
        if (got == TAKEN)
            break;
        int64_t until_ns = by->until_ns;
        if (got == FAILED)
            until_ns = earlier(until_ns, world_now_ns() + TROUBLED_NS);
        else if (left_ms >= 0 && left_ms < WORLD_NEVER / 4 / MS)
            until_ns = earlier(until_ns, world_now_ns() + (left_ms * MS < TURN_NS ? TURN_NS : left_ms * MS));
        while (self->heard == heard && world_now_ns() < until_ns)
            actor_turn(self, until_ns);
    }
    actor_unlisten(self);
    return got;
}
