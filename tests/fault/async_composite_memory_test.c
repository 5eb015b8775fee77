/* Memory runs out while an async call on a multi or red lock starts, and while it runs, at each allocation in turn: the call
 * ends once, and no member stays locked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/members.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/memory.h"

#include <poll.h>

TestSuite(async_composite_memory, .init = members_open, .fini = members_close);

/* More than the allocations of any of these calls. */
#define MOST 400

typedef enum moment {
    STARTING, /* while the call starts */
    RUNNING   /* while the clients are processed, until it has ended */
} moment;

/* One turn of the program's loop, which goes on although a client lacks memory. */
static void turn(void)
{
    struct pollfd fds[MEMBERS];
    for (size_t i = 0; i < MEMBERS; i++)
        fds[i] = (struct pollfd){.fd = rlock_client_fd(members[i].client), .events = POLLIN};
    poll(fds, MEMBERS, 50);
    for (size_t i = 0; i < MEMBERS; i++) {
        rlock_status status = rlock_client_process(members[i].client);
        cr_assert(status == RLOCK_OK || status == RLOCK_NO_MEMORY, "%s", rlock_strstatus(status));
    }
}

/* Memory ends at the first-th allocation, and lasts again at the end of that turn, or when the call has ended. Returns
 * whether it ended at all. */
static bool run_without(const ending *end, int first)
{
    memory_end(first);
    while (!end->known && !memory_has_ended())
        turn();
    return memory_return() > 0;
}

/* Starts a call by `start`, and returns its status when it has ended. */
static rlock_status call_without(rlock_status (*start)(rlock *lock, ending *end), rlock *lock, moment when, int first,
                                 bool *failed)
{
    ending end = {0};
    if (when == STARTING)
        memory_end(first);
    rlock_status status = start(lock, &end);
    *failed = when == STARTING ? memory_return() > 0 : status == RLOCK_OK && run_without(&end, first);
    if (status != RLOCK_OK) {
        cr_assert(!end.known, "a call that has not begun has ended");
        return status;
    }
    cr_assert(poll_loop_wait(&end, MEMBER_LIMIT_MS), "it has not ended");
    return end.status;
}

static rlock_status start_lock(rlock *lock, ending *end)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    return rlock_lock_async(lock, &options, poll_loop_end, end);
}

static rlock_status start_unlock(rlock *lock, ending *end)
{
    return rlock_unlock_async(lock, NULL, poll_loop_end, end);
}

static void assert_said(rlock_status status)
{
    cr_assert(status == RLOCK_OK || status == RLOCK_NO_MEMORY || status == RLOCK_UNAVAILABLE, "%s",
              rlock_strstatus(status));
}

static void end_in_lock(lock_maker *make, moment when)
{
    bool failed = true;
    int first = 1;
    for (; failed; first++) {
        cr_assert(first < MOST);
        rlock *lock = made_of_members(make);
        rlock_status status = call_without(start_lock, lock, when, first, &failed);
        assert_said(status);
        if (status == RLOCK_OK)
            member_unlock(lock);
        cr_assert(rlock_valid_for(lock) == 0);
        assert_members_free();
    }
    cr_assert(first > 2, "no allocation has failed");
}

static void end_in_unlock(lock_maker *make, moment when)
{
    bool failed = true;
    int first = 1;
    for (; failed; first++) {
        bool locking;
        cr_assert(first < MOST);
        rlock *lock = made_of_members(make);
        assert_ok(call_without(start_lock, lock, STARTING, MOST, &locking));
        rlock_status status = call_without(start_unlock, lock, when, first, &failed);
        assert_said(status);
        if (status == RLOCK_NO_MEMORY && rlock_valid_for(lock) > 0) /* nothing has begun */
            member_unlock(lock);
        cr_assert(rlock_valid_for(lock) == 0);
        assert_members_free();
    }
    cr_assert(first > 2, "no allocation has failed");
}

RealTest(async_composite_memory, that_ends_in_the_start_of_a_multi_lock_leaves_no_member_locked)
{
    end_in_lock(rlock_get_multi_lock, STARTING);
}

RealTest(async_composite_memory, that_ends_in_the_start_of_a_red_lock_leaves_no_member_locked)
{
    end_in_lock(rlock_get_red_lock, STARTING);
}

RealTest(async_composite_memory, that_ends_in_a_multi_lock_leaves_no_member_locked)
{
    end_in_lock(rlock_get_multi_lock, RUNNING);
}

RealTest(async_composite_memory, that_ends_in_a_red_lock_leaves_no_member_locked)
{
    end_in_lock(rlock_get_red_lock, RUNNING);
}

RealTest(async_composite_memory, that_ends_in_the_start_of_a_multi_unlock_leaves_no_member_locked)
{
    end_in_unlock(rlock_get_multi_lock, STARTING);
}

RealTest(async_composite_memory, that_ends_in_the_start_of_a_red_unlock_leaves_no_member_locked)
{
    end_in_unlock(rlock_get_red_lock, STARTING);
}

RealTest(async_composite_memory, that_ends_in_a_multi_unlock_leaves_no_member_locked)
{
    end_in_unlock(rlock_get_multi_lock, RUNNING);
}

RealTest(async_composite_memory, that_ends_in_a_red_unlock_leaves_no_member_locked)
{
    end_in_unlock(rlock_get_red_lock, RUNNING);
}
