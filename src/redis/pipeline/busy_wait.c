/* Busy wait: a leader that awaits one answer alone does not sleep, where that was measured to be faster. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/busy_wait.h"

#include "base/checked.h"
#include "base/clock.h"

#include <sched.h>

/* How many waits are measured in each way, and how many are then done in the better one. In test builds the ways change
 * often, so that the simulation sees both. */
#ifdef RLI_CHECKED
#define MEASURED 2
#define SETTLED  50
#else
#define MEASURED 32
#define SETTLED  2000
#endif

/* A busy wait goes to sleep after this time. */
#define BUSY_MOST_NS 100000
/* No wait counts for more: one that the server was late for must not decide. */
#define COUNTED_MOST_NS 200000

static const bool legal[RLI_BUSY_WAIT_STAGES][RLI_BUSY_WAIT_STAGES] = {
    [RLI_BUSY_WAIT_SLEEPS] = {[RLI_BUSY_WAIT_TRIES_SLEEP] = true},
    [RLI_BUSY_WAIT_LOOKS] = {[RLI_BUSY_WAIT_TRIES_SLEEP] = true},
    [RLI_BUSY_WAIT_TRIES_SLEEP] = {[RLI_BUSY_WAIT_TRIES_LOOK] = true, [RLI_BUSY_WAIT_SLEEPS] = true},
    [RLI_BUSY_WAIT_TRIES_LOOK] = {[RLI_BUSY_WAIT_LOOKS] = true, [RLI_BUSY_WAIT_SLEEPS] = true},
};

static void become(rli_busy_wait *wait, rli_busy_wait_stage stage, unsigned waits)
{
    rli_check(legal[wait->stage][stage]);
    wait->stage = stage;
    wait->left = waits;
}

/* The waits of this stage are over. */
static void go_on(rli_busy_wait *wait)
{
    switch (wait->stage) {
    case RLI_BUSY_WAIT_TRIES_SLEEP:
        /* Where an answer takes longer than a busy wait may, there is nothing to win. */
        if (wait->asleep_ns / MEASURED < BUSY_MOST_NS * 2)
            become(wait, RLI_BUSY_WAIT_TRIES_LOOK, MEASURED);
        else
            become(wait, RLI_BUSY_WAIT_SLEEPS, SETTLED);
        wait->busy_ns = 0;
        break;
    case RLI_BUSY_WAIT_TRIES_LOOK:
        /* It must be faster by a quarter to be worth the processor. */
        become(wait, wait->busy_ns <= wait->asleep_ns / 4 * 3 ? RLI_BUSY_WAIT_LOOKS : RLI_BUSY_WAIT_SLEEPS, SETTLED);
        break;
    default:
        become(wait, RLI_BUSY_WAIT_TRIES_SLEEP, MEASURED);
        wait->asleep_ns = 0;
    }
}

/* Looks for bytes until some are there, or for BUSY_MOST_NS. In between, others may have the processor. */
static rli_received look(const rli_connection *connection, int64_t from_ns)
{
    for (;;) {
        rli_received received = rli_connection_take(connection);
        if (received != RLI_RECEIVED_NOTHING || rli_now_ns() - from_ns >= BUSY_MOST_NS)
            return received;
        sched_yield();
    }
}

rli_received rli_busy_wait_receive(rli_busy_wait *wait, const rli_connection *connection)
{
    if (wait->left == 0)
        go_on(wait);
    wait->left--;
    if (wait->stage == RLI_BUSY_WAIT_SLEEPS)
        return rli_connection_block(connection);
    bool busy = wait->stage != RLI_BUSY_WAIT_TRIES_SLEEP;
    int64_t from_ns = rli_now_ns();
    rli_received received = busy ? look(connection, from_ns) : RLI_RECEIVED_NOTHING;
    if (received == RLI_RECEIVED_NOTHING)
        received = rli_connection_block(connection);
    *(busy ? &wait->busy_ns : &wait->asleep_ns) += rli_earlier(rli_now_ns() - from_ns, COUNTED_MOST_NS);
    return received;
}
