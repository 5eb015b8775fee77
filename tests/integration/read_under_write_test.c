/* A read hold under its owner's write hold: one key, two holds, each with its own end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

TestSuite(read_under_write, .init = stage_quick, .fini = stage_close);

#define NAME "order"

/* The key stands, and so does the write hold in it, though its own lease has passed. */
Test(read_under_write, keeps_the_write_hold_as_long_as_it_lasts_itself)
{
    rlock *write = kind_of(&kind_write, stage.client, NAME), *read = kind_of(&kind_read, stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 1700));
    assert_ok(rlock_lock_lease(read, 20000));
    pass_ms(1800);
    cr_assert(rlock_valid_for(write) > 0 && rlock_valid_for(read) > 0);
    assert_ok(rlock_unlock(write));
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* The same by renewal: for as long as the read hold is renewed. */
Test(read_under_write, keeps_the_write_hold_as_long_as_it_is_renewed)
{
    rlock *write = kind_of(&kind_write, stage.client, NAME), *read = kind_of(&kind_read, stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 1700));
    assert_ok(rlock_lock(read));
    pass_ms(KEPT_MS);
    cr_assert(rlock_valid_for(write) > 0);
    rlock *reader = kind_of(&kind_read, stage.other, NAME);
    assert_status(rlock_try_lock(reader, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(write));
    assert_ok(rlock_try_lock(reader, 0, 60000));
    assert_ok(rlock_unlock(reader));
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

Test(read_under_write, that_ran_out_keeps_no_writer_out)
{
    rlock *write = kind_of(&kind_write, stage.client, NAME), *read = kind_of(&kind_read, stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 60000));
    assert_ok(rlock_lock_lease(read, 50));
    pass_ms(100);
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_ok(rlock_unlock(write));
    rlock *rival = kind_of(&kind_write, stage.other, NAME);
    assert_ok(rlock_try_lock(rival, 10000, 60000));
    assert_ok(rlock_unlock(rival));
    assert_no_keys();
}

/* That it was granted beside other readers says that nobody writes. */
Test(read_under_write, that_is_had_without_a_writer_ends_the_write_hold)
{
    rlock *write = kind_of(&kind_write, stage.client, NAME), *read = kind_of(&kind_read, stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 60000));
    cr_assert(server_integer(stage.server, "DEL " NAME) == 1);
    assert_ok(rlock_lock_lease(read, 60000));
    cr_assert(rlock_valid_for(write) == 0, "the write hold is relied on");
    assert_status(rlock_unlock(write), RLOCK_LOST);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}
