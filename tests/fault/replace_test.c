/* What an owner's lost holds left on the server is replaced by its next one, where nothing has released it yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/sides.h"
#include "tests/support/event.h"

TestSuite(replaced, .init = scene_open, .fini = scene_close);

#define NAME "book"

/* Nothing of them is released in the background until these rules are taken down. */
static int keep_releases(const rli_script *script)
{
    return on_script(script, PROXY_HOLD_REQUEST, 0);
}

/* Both sides are lost by our clock, while the server keeps the lock, and with `reads` the read's timeout key. */
static void lose_both(rlock *read, rlock *write, bool reads)
{
    static losses told;
    losses_init(&told);
    rlock_on_lost(scene.client, losses_note, &told);
    assert_ok(rlock_lock_lease(write, 1700));
    assert_ok(rlock_lock_lease(read, 1700));
    redisReply *keys = server_command(stage.server, reads ? "KEYS *" : "KEYS " NAME);
    for (size_t i = 0; i < keys->elements; i++)
        cr_assert(server_integer(stage.server, "PEXPIRE %s 600000", keys->element[i]->str) == 1);
    freeReplyObject(keys);
    cr_assert(event_wait_count(&told.came, 2, 20000));
}

/* The next write replaces the old one's field alone, and waits for its own old read as any other would; the next read
 * replaces that. */
Test(replaced, write_waits_for_a_read_of_its_owner)
{
    rlock *read = read_of(scene.client, NAME), *write = write_of(scene.client, NAME);
    int write_releases = keep_releases(&rli_script_write_release), read_releases = keep_releases(&rli_script_read_release);
    lose_both(read, write, true);
    cr_assert(is_locked(write));
    assert_status(rlock_try_lock(write, 0, 1000), RLOCK_TIMEOUT);
    cr_assert(!is_locked(write) && is_locked(read));
    assert_ok(others_read(NAME));
    assert_between(pttl_of(NAME), 300000, 600000);
    assert_ok(rlock_try_lock(read, 0, 60000));
    proxy_release(scene.proxy, write_releases);
    proxy_release(scene.proxy, read_releases);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
    assert_status(rlock_unlock(write), RLOCK_LOST);
    assert_status(rlock_unlock(read), RLOCK_LOST);
}

/* The read's timeout has passed on the server, too: nobody is in the way. */
Test(replaced, write_does_not_wait_for_a_read_that_has_ended)
{
    rlock *read = read_of(scene.client, NAME), *write = write_of(scene.client, NAME);
    int write_releases = keep_releases(&rli_script_write_release), read_releases = keep_releases(&rli_script_read_release);
    lose_both(read, write, false);
    for (int64_t until_ms = limit_end_ms(10000); timeouts() > 0; pass_ms(1))
        cr_assert(now_ms() < until_ms);
    assert_status(others_write(NAME), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(write, 0, 60000));
    proxy_release(scene.proxy, write_releases);
    proxy_release(scene.proxy, read_releases);
    assert_ok(rlock_unlock(write));
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_status(rlock_unlock(write), RLOCK_LOST);
}
