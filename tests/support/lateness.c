/* Lateness: how late this machine was for a thread that only wanted to wake. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/lateness.h"

#include "tests/support/event.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define NAP_MS 5

static atomic_bool watched;
static atomic_llong due_ms, latest_ms;

static void *nap(void *nothing)
{
    for (;;) {
        int64_t moment_ms = now_ms(); /* for both: a standstill between them is counted by the next look */
        int64_t late_ms = moment_ms - atomic_load(&due_ms);
        if (late_ms > atomic_load(&latest_ms))
            atomic_store(&latest_ms, late_ms);
        atomic_store(&due_ms, moment_ms + NAP_MS);
        pass_ms(NAP_MS);
    }
    return nothing;
}

void lateness_watch(void)
{
    if (atomic_exchange(&watched, true))
        return;
    atomic_store(&due_ms, now_ms() + NAP_MS);
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* a test's signals are for its own threads */
    cr_assert(pthread_create(&thread, NULL, nap, NULL) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_detach(thread);
}

/* One that should have woken by now is late, too: who asks may be the first to run after a standstill. */
int64_t lateness_ms(void)
{
    int64_t late_ms = atomic_load(&watched) ? now_ms() - atomic_load(&due_ms) : 0;
    int64_t most_ms = atomic_load(&latest_ms);
    return late_ms > most_ms ? late_ms : most_ms;
}

bool may_have_run_out(int64_t lease_ms)
{
    return lateness_ms() >= lease_ms / 3;
}
