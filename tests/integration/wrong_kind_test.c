/* A key of another type under the name of any kind of lock: each operation says so, and leaves it alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND_SUITE wrong_kind
TestSuite(wrong_kind, .init = stage_quick, .fini = stage_close);

#define NAME "counter-of-orders"

static const char *const commands[] = {"SET %s 5", "SET %s five", "RPUSH %s 5", "SADD %s 5", "ZADD %s 5 5", "HSET %s 5 5"};

static bool is_string(const char *command)
{
    return strncmp(command, "SET ", 4) == 0;
}

#define assert_refused(call)                                                                       \
    do {                                                                                           \
        assert_status(call, RLOCK_SERVER);                                                         \
        assert_error("WRONGTYPE", NAME);                                                           \
    } while (0)

static void call_everything(rlock *lock)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
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
    cr_assert(flag && count == 77 && ms == 77, "an answer was set");
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(rlock_valid_for(lock) == 0);
}

KIND_TEST(is_named_by_every_operation_and_left_alone)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (of->field ? strncmp(commands[i], "HSET ", 5) == 0 : is_string(commands[i]))
            continue; /* that is the type of its locks */
        freeReplyObject(server_command(stage.server, commands[i], kind_key(of, NAME)));
        char *before = server_keyspace(stage.server);
        call_everything(lock);
        assert_keyspace(stage.client, before);
        cr_assert(pttl_of(kind_key(of, NAME)) == -1);
        free(before);
        freeReplyObject(server_command(stage.server, "DEL %s", kind_key(of, NAME)));
    }
    /* Nothing of it is left in the client: the name can be locked. */
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_free_keys(of, NAME);
}

/* It came while the lock was held, and stays as it is when the renewals come. */
KIND_TEST(ends_the_hold_it_replaced)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    assert_ok(rlock_lock(lock));
    freeReplyObject(server_command(stage.server, "SET %s 5", kind_key(of, NAME)));
    rlock_status status = rlock_unlock(lock);
    cr_assert(status == RLOCK_LOST || status == RLOCK_SERVER, "%s", rlock_strstatus(status));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(kind_of(of, stage.client, "another")));
    pass_ms(ROUND_MS);
    cr_assert(server_integer(stage.server, "GET %s", kind_key(of, NAME)) == 5 && pttl_of(kind_key(of, NAME)) == -1);
}

static void replace_by_another_type(const kind *of, const char *name)
{
    const char *key = kind_key(of, name);
    if (of->field) {
        freeReplyObject(server_command(stage.server, "SET %s 5", key));
        return;
    }
    freeReplyObject(server_command(stage.server, "DEL %s", key));
    freeReplyObject(server_command(stage.server, "RPUSH %s 5", key));
}

/* One of several that are renewed together is replaced: the others are renewed on. */
Test(wrong_kind, spoils_no_renewal_of_the_others)
{
    static const char *const names[] = {"first", NAME, "last"};
    rlock *locks[KINDS][3];
    for (int i = 0; i < KINDS; i++) {
        for (int n = 0; n < 3; n++) {
            char name[64];
            snprintf(name, sizeof name, "%s:%s", all_kinds[i]->name, names[n]);
            locks[i][n] = kind_of(all_kinds[i], stage.client, name);
            assert_ok(rlock_lock(locks[i][n]));
            if (n == 1)
                replace_by_another_type(all_kinds[i], name);
        }
    }
    pass_ms(KEPT_MS);
    for (int i = 0; i < KINDS; i++) {
        assert_ok(rlock_unlock(locks[i][0]));
        assert_ok(rlock_unlock(locks[i][2]));
        cr_assert(rlock_valid_for(locks[i][1]) == 0);
    }
}

/* A lock of one kind under the name of another: whoever comes second waits, and harms nothing. */
Test(wrong_kind, plain_and_read_write_locks_shut_each_other_out)
{
    rlock *plain = kind_of(&kind_reentrant, stage.client, NAME);
    rlock *read = read_of(stage.other, NAME), *write = write_of(stage.other, NAME);
    rlock *sides[] = {read, write};
    assert_ok(rlock_lock_lease(plain, 60000));
    for (int i = 0; i < 2; i++) {
        bool was_locked = true;
        assert_status(rlock_try_lock(sides[i], 0, 1000), RLOCK_TIMEOUT);
        assert_status(rlock_unlock(sides[i]), RLOCK_NOT_OWNER);
        assert_ok(rlock_force_unlock(sides[i], &was_locked));
        cr_assert(!was_locked);
    }
    assert_keyspace(stage.client, NAME " hash [A, 1] \n");
    assert_ok(rlock_unlock(plain));
    for (int i = 0; i < 2; i++) {
        assert_ok(rlock_try_lock(sides[i], 0, 60000));
        assert_status(rlock_try_lock(plain, 0, 1000), RLOCK_TIMEOUT);
        assert_ok(rlock_unlock(sides[i]));
    }
    assert_no_keys();
}
