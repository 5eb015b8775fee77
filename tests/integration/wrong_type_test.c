/* A key of another type under a lock's name: each operation says so, and leaves the key alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdlib.h>
#include <string.h>

TestSuite(wrong_type, .init = stage_quick, .fini = stage_close, .timeout = 60);

#define NAME "counter-of-orders"

static const char *const commands[] = {"SET " NAME " five", "RPUSH " NAME " 5", "SADD " NAME " 5", "ZADD " NAME " 5 5"};

static void assert_said_wrong_type(void)
{
    cr_assert(strstr(rlock_last_error(), "WRONGTYPE") && strstr(rlock_last_error(), NAME), "said: %s",
              rlock_last_error());
}

#define assert_refused(call)                                                                       \
    do {                                                                                           \
        assert_status(call, RLOCK_SERVER);                                                         \
        assert_said_wrong_type();                                                                  \
    } while (0)

static void call_everything(rlock *lock)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    rlock_inspection *inspection = NULL;
    bool flag = true;
    int count = 77;
    int64_t ms = 77;
    assert_refused(rlock_lock(lock));
    assert_refused(rlock_lock_lease(lock, 1000));
    assert_refused(rlock_try_lock(lock, 0, 1000));
    assert_refused(rlock_try_lock(lock, 1000, RLOCK_WATCHDOG));
    assert_refused(rlock_lock_with(lock, &options));
    assert_refused(rlock_force_unlock(lock, &flag));
    assert_refused(rlock_is_locked(lock, &flag));
    assert_refused(rlock_is_held(lock, &flag));
    assert_refused(rlock_get_hold_count(lock, &count));
    assert_refused(rlock_remain_time_to_live(lock, &ms));
    assert_refused(rlock_inspect(stage.client, NAME, &inspection));
    cr_assert(flag && count == 77 && ms == 77 && !inspection, "an answer was set");
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(rlock_valid_for(lock) == 0);
}

Test(wrong_type, is_named_by_every_operation_and_left_alone)
{
    rlock *lock = lock_of(stage.client, NAME);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        freeReplyObject(server_command(stage.server, commands[i]));
        char *before = server_keyspace(stage.server);
        call_everything(lock);
        char *after = server_keyspace(stage.server);
        cr_assert(strcmp(before, after) == 0, "was:\n%s\nis:\n%s", before, after);
        free(before);
        free(after);
        freeReplyObject(server_command(stage.server, "DEL " NAME));
    }
    /* Nothing of it is left in the client: the name can be locked. */
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* It came while the lock was held. */
Test(wrong_type, ends_the_hold_it_replaced)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    freeReplyObject(server_command(stage.server, "SET " NAME " 5"));
    rlock_status status = rlock_unlock(lock);
    cr_assert(status == RLOCK_LOST || status == RLOCK_SERVER, "%s", rlock_strstatus(status));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(server_integer(stage.server, "GET " NAME) == 5);
    pass_ms(QUICK_MS);
    cr_assert(server_integer(stage.server, "GET " NAME) == 5 && pttl_of(NAME) == -1);
}
