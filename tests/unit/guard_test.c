/* The guard: whoever calls it is looked after, also when it was stopped and begins anew. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/receive_timeout.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <sched.h>

TestSuite(guard);

#define PACE_MS 160
#define SOON_MS 20000

static event looked, may_go_on;

/* Something is under way; the first look takes until the test lets it end. */
static bool look(void *pipelines)
{
    (void)pipelines;
    event_set(&looked);
    return event_wait_ms(&may_go_on, SOON_MS);
}

static void *stop(void *guard)
{
    rli_receive_timeout_stop(guard);
    return NULL;
}

static bool is_stopping(rli_receive_timeout *guard)
{
    pthread_mutex_lock(&guard->mutex);
    bool stopping = guard->stopping;
    pthread_mutex_unlock(&guard->mutex);
    return stopping;
}

/* A server is given up while a request is under way there, and its memory is used for another server. A guard that then
 * took itself for awake would leave that server's requests to nobody. */
Test(guard, that_was_stopped_in_a_look_looks_again_when_it_is_called)
{
    rli_receive_timeout guard;
    pthread_t stopper;
    event_init(&looked);
    event_init(&may_go_on);
    rli_receive_timeout_init(&guard, PACE_MS, look, NULL);
    cr_assert(rli_receive_timeout_call(&guard));
    cr_assert(event_wait_ms(&looked, SOON_MS));
    cr_assert(pthread_create(&stopper, NULL, stop, &guard) == 0);
    while (!is_stopping(&guard))
        sched_yield();
    int before = event_count(&looked);
    event_set(&may_go_on);
    pthread_join(stopper, NULL);
    cr_assert(!rli_receive_timeout_call(&guard), "it was stopped");
    rli_receive_timeout_reopen(&guard);
    cr_assert(rli_receive_timeout_call(&guard));
    cr_assert(event_wait_count(&looked, before + 1, SOON_MS), "nobody looks");
    rli_receive_timeout_stop(&guard);
    rli_receive_timeout_destroy(&guard);
    event_destroy(&looked);
    event_destroy(&may_go_on);
}
