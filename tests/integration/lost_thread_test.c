/* Lost holds, where the thread that tells of them cannot be started: who asks to be told must know. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"

#include <pthread.h>

TestSuite(lost_thread, .init = stage_quick, .fini = stage_close);

static losses told;

/* Threads get no stack from now on. */
static void refuse_threads(pthread_attr_t *usual)
{
    pthread_attr_t huge;
    cr_assert(pthread_getattr_default_np(usual) == 0 && pthread_getattr_default_np(&huge) == 0);
    cr_assert(pthread_attr_setstacksize(&huge, (size_t)1 << 46) == 0 && pthread_setattr_default_np(&huge) == 0);
}

RealTest(lost_thread, that_cannot_be_started_is_said_and_tried_again)
{
    pthread_attr_t usual;
    rlock *lock = lock_of(stage.client, "order");
    losses_init(&told);
    assert_ok(rlock_lock(lock)); /* the threads of the client itself have been started */
    refuse_threads(&usual);
    assert_status(rlock_on_lost(stage.client, losses_note, &told), RLOCK_NO_MEMORY);
    assert_error("could not start a thread for rlock-lost");
    cr_assert(pthread_setattr_default_np(&usual) == 0);
    assert_ok(rlock_on_lost(stage.client, losses_note, &told));
    foreign_vanish("order");
    losses_await(&told, 1, 10000);
}
