/* The read-write lock: which holds go together, and what becomes of them as others come and go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(read_write, .init = stage_open, .fini = stage_close);

#define NAME "book"

/* --- which holds go together --- */

Test(read_write, readers_share_and_shut_the_writer_out)
{
    rlock *mine = read_of(stage.client, NAME), *theirs = read_of(stage.other, NAME);
    actor *another = actor_start();
    assert_ok(rlock_lock(mine));
    assert_ok(rlock_lock(theirs));
    assert_ok(actor_lock(another, mine));
    assert_status(others_write(NAME), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(mine));
    assert_ok(rlock_unlock(theirs));
    assert_status(others_write(NAME), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(another, mine));
    assert_no_keys();
    assert_ok(others_write(NAME));
    actor_end(another);
}

/* 42. */
Test(read_write, writer_may_read)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    assert_status(others_read(NAME), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(read));
    assert_status(others_read(NAME), RLOCK_TIMEOUT);
    cr_assert(is_locked(write) && rlock_valid_for(write) > 0);
    assert_ok(rlock_unlock(write));
    assert_no_keys();
    assert_ok(others_read(NAME));
}

/* 43. */
Test(read_write, writer_that_reads_may_step_down)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    rlock *theirs = read_of(stage.other, NAME);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    assert_ok(rlock_unlock(write));
    assert_status(rlock_try_lock(write, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(theirs, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(theirs));
    assert_status(rlock_try_lock(write, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_try_lock(write, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* 44. */
Test(read_write, reader_cannot_step_up)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(read));
    assert_status(rlock_try_lock(write, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_error("or by this one for reading"); /* no other owner is there */
    assert_status(rlock_try_lock(write, 100, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_error("or by this one for reading");
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* 45, and of the absent lock. */
Test(read_write, each_side_is_locked_while_it_is_held)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    int64_t ms = 0;
    cr_assert(!is_locked(read) && !is_locked(write));
    assert_ok(rlock_lock(write));
    cr_assert(!is_locked(read) && is_locked(write));
    assert_ok(rlock_remain_time_to_live(read, &ms));
    cr_assert(ms == -2);
    assert_ok(rlock_lock(read));
    cr_assert(is_locked(read) && is_locked(write));
    assert_ok(rlock_unlock(write));
    cr_assert(is_locked(read) && !is_locked(write));
    assert_ok(rlock_remain_time_to_live(write, &ms));
    cr_assert(ms == -2);
    assert_ok(rlock_unlock(read));
    cr_assert(!is_locked(read) && !is_locked(write));
}

/* Sides are counted apart, whichever is given back first. */
Test(read_write, holds_of_the_sides_are_counted_apart)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    int reads = 0, writes = 0;
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_lock(write));
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(read));
    for (int i = 0; i < 5; i++) {
        assert_ok(rlock_get_hold_count(read, &reads));
        assert_ok(rlock_get_hold_count(write, &writes));
        cr_assert(reads == 3 - (i + 1) / 2 && writes == 2 - i / 2, "%d reads, %d writes", reads, writes);
        assert_ok(rlock_unlock(i % 2 ? write : read));
    }
    assert_no_keys();
    assert_status(rlock_unlock(read), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(write), RLOCK_NOT_OWNER);
}

/* 55, and the other side's unlock. */
Test(read_write, unlock_of_what_another_reads_is_refused)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(read));
    assert_status(rlock_unlock(read_of(stage.other, NAME)), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(write), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(owned_by(read, 1)), RLOCK_NOT_OWNER);
    cr_assert(is_locked(read) && timeouts() == 1);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_lock(write));
    assert_status(rlock_unlock(read), RLOCK_NOT_OWNER);
    cr_assert(is_locked(write));
    assert_ok(rlock_unlock(write));
}

/* 54. */
Test(read_write, force_unlock_of_a_side_acts_in_its_mode_alone)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    rlock *force_read = read_of(stage.other, NAME), *force_write = write_of(stage.other, NAME);
    bool was_locked = true;
    assert_ok(rlock_force_unlock(force_read, &was_locked));
    cr_assert(!was_locked);
    assert_ok(rlock_force_unlock(force_write, &was_locked));
    cr_assert(!was_locked);
    assert_ok(rlock_lock(read));
    assert_ok(rlock_force_unlock(force_write, &was_locked));
    cr_assert(!was_locked && is_locked(read));
    assert_ok(rlock_force_unlock(force_read, &was_locked));
    cr_assert(was_locked && !is_locked(read));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    assert_ok(rlock_force_unlock(force_read, &was_locked));
    cr_assert(!was_locked && is_locked(write) && is_locked(read));
    assert_ok(rlock_force_unlock(force_write, &was_locked)); /* and the reads under it */
    cr_assert(was_locked && !is_locked(write) && !is_locked(read));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_status(rlock_unlock(write), RLOCK_LOST);
    assert_ok(others_write(NAME));
}

/* What a force unlock of this client does not free is held on. */
Test(read_write, force_unlock_of_the_side_that_is_free_loses_nothing)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(read));
    assert_ok(rlock_force_unlock(write, NULL));
    cr_assert(rlock_valid_for(read) > 0);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_lock(write));
    assert_ok(rlock_force_unlock(read, NULL));
    cr_assert(rlock_valid_for(write) > 0);
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* --- sessions --- */

/* The second read session under one write hold has another number than the writer: it reads all the same. */
Test(read_write, writer_may_read_again_and_again)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(write));
    for (int i = 0; i < 4; i++) {
        assert_ok(rlock_try_lock(read, 0, RLOCK_WATCHDOG));
        assert_ok(rlock_try_lock(read, 0, RLOCK_WATCHDOG));
        cr_assert(timeouts() == 2);
        assert_status(others_read(NAME), RLOCK_TIMEOUT);
        assert_ok(rlock_unlock(read));
        assert_ok(rlock_unlock(read));
        cr_assert(timeouts() == 0 && is_locked(write) && !is_locked(read));
    }
    assert_ok(rlock_try_lock(read, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(write));
    assert_ok(others_read(NAME));
    assert_status(others_write(NAME), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* A read that was given up on its way, and runs late beside another reader: soon only that one is left. */
Test(read_write, late_read_leaves_other_readers_as_they_were)
{
    rlock *read = read_of(stage.client, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    rlock_cancel *token = options.cancel = rlock_cancel_new();
    actor *trying = actor_start();
    assert_ok(rlock_lock_lease(read_of(stage.other, NAME), 60000));
    assert_ok(others_read(NAME));
    char *before = server_keyspace(stage.server);
    freeReplyObject(server_command(stage.server, "CONFIG SET notify-keyspace-events Eghx"));
    server_listen(stage.server);
    server_freeze(stage.server);
    actor_begin_with(trying, read, &options);
    cr_assert(actor_asleep(trying, 5000));
    rlock_cancel_fire(token);
    assert_status(actor_finish(trying, 5000), RLOCK_CANCELLED);
    server_thaw(stage.server);
    cr_assert(server_heard(stage.server, "__keyevent@0__:hset", NAME, 5000), "it did not run late");
    cr_assert(server_heard(stage.server, "__keyevent@0__:hdel", NAME, 5000), "it was not undone");
    char *after = server_keyspace(stage.server);
    cr_assert(strcmp(before, after) == 0, "was:\n%s\nis:\n%s", before, after);
    assert_between(pttl_of(NAME), 50000, 60000);
    free(before);
    free(after);
    actor_end(trying);
    rlock_cancel_free(token);
}

/* A named owner's two threads are one owner: what one writes, the other may read. */
Test(read_write, named_owner_is_one_on_both_sides)
{
    rlock *read = owned_by(read_of(stage.client, NAME), 5), *write = owned_by(write_of(stage.client, NAME), 5);
    actor *one = actor_start(), *two = actor_start();
    assert_ok(actor_lock(one, write));
    assert_ok(actor_try(two, read, 0, RLOCK_WATCHDOG));
    assert_status(actor_try(one, owned_by(read, 6), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(two, write));
    assert_ok(actor_try(one, owned_by(read, 6), 0, RLOCK_WATCHDOG));
    assert_ok(actor_unlock(one, owned_by(read, 6)));
    assert_ok(actor_unlock(one, read));
    assert_no_keys();
    actor_end(one);
    actor_end(two);
}

/* 57, and names with braces, colons and a prefix: every key beside its lock, the prefix once. */
Test(read_write, keeps_to_its_names)
{
    static const char *const names[] = {"{test}:abc:key", "a:b:c", "a{b", "x:rwlock_timeout:1"};
    rlock_client *prefixed = stage_client("namePrefix=shop:");
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        rlock_client *client = i % 2 ? prefixed : stage.client;
        const char *name = names[i / 2];
        char whole[64], base[80];
        snprintf(whole, sizeof whole, "%s%s", i % 2 ? "shop:" : "", name);
        snprintf(base, sizeof base, strchr(name, '{') ? "%s:%s:" : "{%s}:%s:", whole, rlock_client_id(client));
        rlock *read = read_of(client, name), *write = write_of(client, name);
        assert_ok(rlock_lock(write));
        assert_ok(rlock_lock(read));
        cr_assert(server_integer(stage.server, "HLEN %s", whole) == 3);
        redisReply *keys = server_command(stage.server, "KEYS *%s*", rlock_client_id(client));
        cr_assert(keys->elements == 1 && strncmp(keys->element[0]->str, base, strlen(base)) == 0);
        freeReplyObject(keys);
        assert_ok(rlock_unlock(write));
        assert_ok(rlock_unlock(read));
        assert_no_keys();
    }
}

/* The sides stay valid when the pair is freed. */
Test(read_write, sides_outlive_their_pair)
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(stage.client, NAME);
    cr_assert(pair && strcmp(rlock_read_write_lock_name(pair), NAME) == 0);
    rlock *read = rlock_read_lock(pair), *write = rlock_write_lock(pair);
    rlock_read_write_lock_free(pair);
    cr_assert(strcmp(rlock_name(read), NAME) == 0 && strcmp(rlock_name(write), NAME) == 0);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    rlock_free(read);
    rlock_free(write);
    assert_ok(rlock_unlock(read_of(stage.client, NAME)));
    assert_ok(rlock_unlock(write_of(stage.client, NAME)));
    assert_no_keys();
}
