/* Busy wait: a leader that awaits one answer alone does not sleep, where that was measured to be faster. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/busy_wait.h"

#include "base/checked.h"
#include "base/clock.h"

#include <sched.h>

/* How many waits are measured in each way, and how many are then done in the better one: up to eight times as many
 * asleep while tries to look fail. In test builds the ways change often, so that the simulation sees both. */
#ifdef RLI_CHECKED
#define MEASURED 2
#define SETTLED  50u
#else
#define MEASURED 32
#define SETTLED  2000u
#endif
#define FAILED_MOST 3

/* A busy wait goes to sleep at the first look after this time. Where others want the processor, that look may come
 * much later. */
#define BUSY_MOST_NS 100000
/* One that sleeps and has its answer this soon shares a processor with the server: nothing has to be woken from idling.
 * Looking would win nothing there, and drive the two apart. */
#define SHARED_NS 20000
/* After such a pause in which it was idle, the scheduler often brings the two together, if the client sleeps. */
#define PAUSE_NS 50000000
/* No sleep counts for more: one that the server was late for must not decide. Looking counts for more, as it is looking
 * itself that takes long where others want the processor. */
#define COUNTED_ASLEEP_NS 200000
#define COUNTED_BUSY_NS   2000000

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

/* Looking must be faster by a quarter to be worth the processor. Once chosen, it goes on until it is slower than
 * sleeping: so the choice stays where the two are close. */
static bool looking_pays(const rli_busy_wait *wait)
{
    return wait->busy_ns <= (wait->stage == RLI_BUSY_WAIT_LOOKS ? wait->asleep_ns : wait->asleep_ns / 4 * 3);
}

/* Where an answer takes longer than a busy wait may, there is nothing to win either. */
static bool may_win(int64_t asleep_ns)
{
    return asleep_ns >= SHARED_NS && asleep_ns < BUSY_MOST_NS / 2 * 3;
}

/* The waits of this stage are over. */
static void go_on(rli_busy_wait *wait)
{
    switch (wait->stage) {
    case RLI_BUSY_WAIT_TRIES_SLEEP:
        if (may_win(wait->asleep_ns / MEASURED))
            become(wait, RLI_BUSY_WAIT_TRIES_LOOK, MEASURED);
        else
            become(wait, RLI_BUSY_WAIT_SLEEPS, SETTLED);
        break;
    case RLI_BUSY_WAIT_TRIES_LOOK:
        if (looking_pays(wait)) {
            become(wait, RLI_BUSY_WAIT_LOOKS, SETTLED);
        } else {
            become(wait, RLI_BUSY_WAIT_SLEEPS, SETTLED << wait->failed);
            if (wait->failed < FAILED_MOST)
                wait->failed++;
        }
        break;
    default:
        if (wait->stage == RLI_BUSY_WAIT_LOOKS && looking_pays(wait)) /* to its end */
            wait->failed = 0;
        become(wait, RLI_BUSY_WAIT_TRIES_SLEEP, MEASURED);
        wait->asleep_ns = 0;
    }
    wait->busy_ns = 0;
}

/* Looks for bytes until some are there, or for BUSY_MOST_NS. In between, others may have the processor. */
static rli_received look(const rli_connection *connection, int64_t from_ns)
{
    for (;;) {
        rli_received received = rli_connection_receive(connection, 0, -1, false);
        if (received != RLI_RECEIVED_NOTHING || rli_now_ns() - from_ns >= BUSY_MOST_NS)
            return received;
        sched_yield();
    }
}

/* Ends the stage as soon as looking has taken longer than it may. */
static void count_busy(rli_busy_wait *wait, int64_t looked_ns, int64_t slept_ns)
{
    if (wait->stage == RLI_BUSY_WAIT_LOOKS && wait->left % MEASURED == 0)
        wait->busy_ns = 0;
    wait->busy_ns += rli_earlier(looked_ns, COUNTED_BUSY_NS) + slept_ns;
    if (!looking_pays(wait))
        wait->left = 0;
}

static bool comes_after_pause(const rli_busy_wait *wait, int64_t now_ns)
{
    return now_ns - wait->ended_ns >= PAUSE_NS;
}

rli_received rli_busy_wait_receive(rli_busy_wait *wait, const rli_connection *connection, int64_t deadline_ms,
                                   int wake_fd)
{
    int64_t from_ns = rli_now_ns(), slept_from_ns = from_ns;
    if (wait->left == 0 || (wait->stage == RLI_BUSY_WAIT_LOOKS && comes_after_pause(wait, from_ns)))
        go_on(wait);
    wait->left--;
    if (wait->stage == RLI_BUSY_WAIT_SLEEPS)
        return rli_connection_receive(connection, deadline_ms, wake_fd, false);
    bool busy = wait->stage != RLI_BUSY_WAIT_TRIES_SLEEP;
    rli_received received = RLI_RECEIVED_NOTHING;
    if (busy) {
        received = look(connection, from_ns);
        slept_from_ns = rli_now_ns();
    }
    if (received == RLI_RECEIVED_NOTHING)
        received = rli_connection_receive(connection, deadline_ms, wake_fd, false);
    wait->ended_ns = rli_now_ns();
    int64_t slept_ns = rli_earlier(wait->ended_ns - slept_from_ns, COUNTED_ASLEEP_NS);
    if (busy)
        count_busy(wait, slept_from_ns - from_ns, slept_ns);
    else
        wait->asleep_ns += slept_ns;
    return received;
}
