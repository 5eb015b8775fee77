/* Listeners: functions that are called when a key is deleted or expires. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <string.h>

TestSuite(listener, .init = stage_open, .fini = stage_close);

#define NAME "order"

typedef struct ear {
    event came;
    rlock_event_kind kind; /* the latest */
    char name[64];
    rlock *takes;             /* locks and unlocks this when called; NULL: nothing */
    rlock_listener **removes; /* removes this one when called; NULL: none */
} ear;

static void note(const rlock_event *of, void *arg)
{
    ear *self = arg;
    self->kind = of->kind;
    if (self->takes) {
        assert_ok(rlock_lock(self->takes));
        assert_ok(rlock_unlock(self->takes));
    }
    if (self->removes)
        rlock_remove_listener(*self->removes);
    strncpy(self->name, of->name, sizeof self->name - 1); /* valid as long as the call, whatever it has done */
    event_set(&self->came);
}

static void notify(const char *letters)
{
    freeReplyObject(server_command(stage.server, "CONFIG SET notify-keyspace-events %s", letters));
}

static rlock_listener *listen(rlock *lock, ear *to)
{
    rlock_listener *listener = NULL;
    notify("Kgx");
    event_init(&to->came);
    assert_ok(rlock_add_listener(lock, note, to, &listener));
    return listener;
}

static void assert_heard(ear *by, int count, rlock_event_kind expected)
{
    cr_assert(event_wait_count(&by->came, count, 20000), "heard %d", event_count(&by->came));
    cr_assert(by->kind == expected && strcmp(by->name, NAME) == 0, "%d of %s", (int)by->kind, by->name);
}

Test(listener, hears_the_last_release_and_no_other)
{
    ear mine = {.takes = NULL};
    rlock *lock = lock_of(stage.client, NAME);
    rlock_listener *listener = listen(lock, &mine);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_heard(&mine, 1, RLOCK_EVENT_DELETED);
    assert_ok(rlock_lock(lock_of(stage.other, NAME)));
    assert_ok(rlock_force_unlock(lock, NULL));
    assert_heard(&mine, 2, RLOCK_EVENT_DELETED);
    rlock_remove_listener(listener);
    cr_assert(event_count(&mine.came) == 2 && wait_no_channels(5000));
}

Test(listener, hears_that_a_lease_has_ended)
{
    ear mine = {.takes = NULL};
    rlock_listener *listener = listen(lock_of(stage.client, NAME), &mine);
    assert_ok(rlock_lock_lease(lock_of(stage.other, NAME), 50));
    assert_heard(&mine, 1, RLOCK_EVENT_EXPIRED);
    rlock_remove_listener(listener);
}

Test(listener, may_use_locks_and_remove_itself)
{
    rlock_listener *listener, *second;
    ear mine = {.takes = lock_of(stage.client, "another"), .removes = &listener}, beside = {.takes = NULL};
    rlock *lock = lock_of(stage.client, NAME);
    listener = listen(lock, &mine);
    second = listen(lock, &beside);
    for (int i = 1; i <= 2; i++) {
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
        assert_heard(&beside, i, RLOCK_EVENT_DELETED);
    }
    assert_heard(&mine, 1, RLOCK_EVENT_DELETED);
    cr_assert(event_count(&mine.came) == 1);
    rlock_remove_listener(second);
}

/* Of each kind of lock that has one key, and of the objects. */
Test(listener, is_for_each_kind_of_object)
{
    const kind *kinds[] = {&kind_fair, &kind_read, &kind_write, &kind_fenced, &kind_token, &kind_spin};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        ear mine = {.takes = NULL};
        rlock *lock = kind_of(kinds[i], stage.client, NAME);
        rlock_listener *listener = listen(lock, &mine);
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
        assert_heard(&mine, 1, RLOCK_EVENT_DELETED);
        rlock_remove_listener(listener);
    }
    ear mine = {.takes = NULL};
    rlock_listener *listener;
    rlock_count_down_latch *latch = latch_of(stage.client, NAME);
    event_init(&mine.came);
    assert_ok(rlock_object_add_listener(rlock_count_down_latch_object(latch), note, &mine, &listener));
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, NULL));
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_heard(&mine, 1, RLOCK_EVENT_DELETED);
    rlock_remove_listener(listener);
}

Test(listener, gets_the_name_without_the_prefix)
{
    ear mine = {.takes = NULL};
    rlock_client *client = stage_client("namePrefix=shop:");
    rlock_listener *listener = listen(lock_of(client, NAME), &mine);
    assert_ok(rlock_lock_lease(lock_of(stage.client, "shop:" NAME), 50));
    assert_heard(&mine, 1, RLOCK_EVENT_EXPIRED);
    rlock_remove_listener(listener);
}

/* Its server breaks all connections: what happens after that is heard again. */
Test(listener, survives_a_broken_connection)
{
    ear mine = {.takes = NULL};
    rlock *lock = lock_of(stage.client, NAME);
    rlock_listener *listener = listen(lock, &mine);
    freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE pubsub"));
    for (int i = 0; i < 1000 && event_count(&mine.came) == 0; i++) { /* until it is subscribed again */
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
        (void)event_wait_count(&mine.came, 1, 20);
    }
    assert_heard(&mine, 1, RLOCK_EVENT_DELETED);
    rlock_remove_listener(listener);
}

/* It is told of what happens after it was added. */
Test(listener, hears_nothing_that_was_before_it)
{
    ear early = {.takes = NULL}, late = {.takes = NULL};
    rlock *lock = lock_of(stage.client, NAME);
    rlock_listener *first = listen(lock, &early);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_heard(&early, 1, RLOCK_EVENT_DELETED);
    rlock_listener *second = listen(lock, &late);
    assert_ok(rlock_lock_lease(lock, 50));
    assert_heard(&early, 2, RLOCK_EVENT_EXPIRED);
    assert_heard(&late, 1, RLOCK_EVENT_EXPIRED);
    cr_assert(event_count(&late.came) == 1);
    rlock_remove_listener(first);
    rlock_remove_listener(second);
}

/* --- a function that takes its time --- */

typedef struct busy {
    event began, may_end;
    atomic_int deleted, expired;
} busy;

static void note_slowly(const rlock_event *of, void *arg)
{
    busy *self = arg;
    if (of->kind == RLOCK_EVENT_DELETED)
        self->deleted++;
    else
        self->expired++;
    event_set(&self->began);
    cr_assert(event_wait_ms(&self->may_end, 20000));
}

static rlock_listener *listen_slowly(rlock *lock, busy *to)
{
    rlock_listener *listener = NULL;
    notify("Kgx");
    event_init(&to->began);
    event_init(&to->may_end);
    assert_ok(rlock_add_listener(lock, note_slowly, to, &listener));
    return listener;
}

static rlock_status end_listening(void *listener)
{
    rlock_remove_listener(listener);
    return RLOCK_OK;
}

/* Afterwards the program may free what the function uses. */
Test(listener, is_removed_when_its_function_has_ended)
{
    busy mine = {.deleted = 0};
    rlock *lock = lock_of(stage.client, NAME);
    rlock_listener *listener = listen_slowly(lock, &mine);
    actor *remover = actor_start();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(event_wait_ms(&mine.began, 20000));
    actor_begin(remover, end_listening, listener);
    cr_assert(actor_asleep(remover, 5000) && !actor_ended(remover, 50));
    event_set(&mine.may_end);
    assert_ok(actor_finish(remover, 20000));
    actor_end(remover);
}

/* All functions share a thread, which is not needed to add another. */
Test(listener, is_added_while_the_function_of_another_runs)
{
    busy mine = {.deleted = 0};
    ear beside = {.takes = NULL};
    rlock *lock = lock_of(stage.client, NAME);
    rlock_listener *slow = listen_slowly(lock, &mine);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(event_wait_ms(&mine.began, 20000));
    rlock_listener *second = listen(lock_of(stage.client, "another"), &beside);
    assert_ok(rlock_lock(lock_of(stage.client, "another")));
    assert_ok(rlock_unlock(lock_of(stage.client, "another")));
    event_set(&mine.may_end);
    cr_assert(event_wait_ms(&beside.came, 20000));
    rlock_remove_listener(slow);
    rlock_remove_listener(second);
}

/* Of each, though both came while it was at something else. */
Test(listener, hears_of_an_end_and_of_a_deletion_at_the_same_time)
{
    busy mine = {.deleted = 0};
    rlock *lock = lock_of(stage.client, NAME);
    rlock_listener *listener = listen_slowly(lock, &mine);
    ear beside = {.takes = NULL};
    rlock_listener *witness = listen(lock_of(stage.other, NAME), &beside);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(event_wait_ms(&mine.began, 20000));
    assert_ok(rlock_lock_lease(lock_of(stage.other, NAME), 50));
    assert_heard(&beside, 2, RLOCK_EVENT_EXPIRED);
    assert_ok(rlock_lock(lock_of(stage.other, NAME)));
    assert_ok(rlock_unlock(lock_of(stage.other, NAME)));
    assert_heard(&beside, 3, RLOCK_EVENT_DELETED);
    event_set(&mine.may_end);
    cr_assert(event_wait_count(&mine.began, 3, 20000));
    cr_assert(mine.deleted == 2 && mine.expired == 1);
    rlock_remove_listener(listener);
    rlock_remove_listener(witness);
}

/* --- a key that never rests: whenever the function has run, it has changed again --- */

typedef struct restless {
    event came;
    rlock *lock;
} restless;

static void change_again(const rlock_event *of, void *arg)
{
    restless *self = arg;
    (void)of;
    assert_ok(rlock_lock(self->lock));
    assert_ok(rlock_unlock(self->lock));
    pass_ms(20); /* until the message of that has come */
    event_set(&self->came);
}

static rlock_listener *begin_restless(restless *self)
{
    rlock_listener *listener = NULL;
    notify("Kgx");
    event_init(&self->came);
    assert_ok(rlock_add_listener(self->lock, change_again, self, &listener));
    assert_ok(rlock_lock(self->lock));
    assert_ok(rlock_unlock(self->lock));
    cr_assert(event_wait_count(&self->came, 2, 20000));
    return listener;
}

Test(listener, of_a_restless_key_keeps_no_other_waiting)
{
    ear beside = {.takes = NULL};
    restless mine = {.lock = lock_of(stage.client, NAME)};
    rlock *quiet = lock_of(stage.client, "another");
    rlock_listener *witness = listen(quiet, &beside), *listener = begin_restless(&mine);
    for (int i = 1; i <= 3; i++) {
        assert_ok(rlock_lock(quiet));
        assert_ok(rlock_unlock(quiet));
        cr_assert(event_wait_count(&beside.came, i, 20000));
    }
    rlock_remove_listener(witness);
    rlock_remove_listener(listener);
}

/* The event that came during a call is none of it any more. */
Test(listener, of_a_restless_key_is_removed_after_one_call)
{
    restless mine = {.lock = lock_of(stage.client, NAME)};
    rlock_listener *listener = begin_restless(&mine);
    actor *remover = actor_start();
    actor_begin(remover, end_listening, listener);
    assert_ok(actor_finish(remover, 20000));
    actor_end(remover);
}

typedef struct adding {
    event came;
    rlock *lock;
    ear *to;
    rlock_listener *added;
    rlock_status status;
} adding;

static void add_another(const rlock_event *of, void *arg)
{
    adding *self = arg;
    (void)of;
    if (!self->added)
        self->status = rlock_add_listener(self->lock, note, self->to, &self->added);
    event_set(&self->came);
}

/* It cannot wait for the thread that it runs on. */
Test(listener, may_add_another)
{
    ear later = {.takes = NULL};
    rlock *lock = lock_of(stage.client, NAME);
    adding mine = {.lock = lock, .to = &later, .status = RLOCK_UNKNOWN};
    rlock_listener *listener;
    notify("Kgx");
    event_init(&mine.came);
    event_init(&later.came);
    assert_ok(rlock_add_listener(lock, add_another, &mine, &listener));
    for (int i = 0; i < 1000 && event_count(&later.came) == 0; i++) {
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
        (void)event_wait_count(&later.came, 1, 20);
    }
    cr_assert(event_wait_ms(&mine.came, 20000));
    assert_ok(mine.status);
    assert_heard(&later, 1, RLOCK_EVENT_DELETED);
    rlock_remove_listener(listener);
    rlock_remove_listener(mine.added);
}

/* Keys of the same name in other databases are others. */
Test(listener, is_for_the_database_of_its_client)
{
    ear mine = {.takes = NULL};
    rlock_client *client = stage_client("database=1");
    rlock *lock = lock_of(client, NAME);
    rlock_listener *listener = listen(lock, &mine);
    assert_ok(rlock_lock(lock_of(stage.client, NAME)));
    assert_ok(rlock_unlock(lock_of(stage.client, NAME)));
    assert_ok(rlock_lock_lease(lock, 50));
    assert_heard(&mine, 1, RLOCK_EVENT_EXPIRED);
    cr_assert(event_count(&mine.came) == 1);
    rlock_remove_listener(listener);
}

Test(listener, may_be_removed_after_its_client_was_closed)
{
    ear mine = {.takes = NULL};
    rlock_client *client = stage_client("timeout=3000");
    rlock_listener *listener = listen(lock_of(client, NAME), &mine);
    stage_close_client(client);
    rlock_remove_listener(listener);
    cr_assert(wait_no_channels(5000));
}

Test(listener, without_notifications_is_refused_with_what_to_do)
{
    static const char *const wrong[] = {"\"\"", "Eg$x", "Kg", "Kx", "gx"};
    ear mine = {.takes = NULL};
    rlock_listener *listener = NULL;
    rlock *lock = lock_of(stage.client, NAME), *multi = rlock_get_multi_lock(&lock, 1);
    notify("KA");
    assert_ok(rlock_add_listener(lock, note, &mine, &listener));
    rlock_remove_listener(listener);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        notify(i == 0 ? "" : wrong[i]);
        assert_status(rlock_add_listener(lock, note, &mine, &listener), RLOCK_UNSUPPORTED);
        cr_assert(strstr(rlock_last_error(), "CONFIG SET notify-keyspace-events Kgx"), "%s", rlock_last_error());
    }
    notify("Kgx");
    assert_status(rlock_add_listener(lock, NULL, &mine, &listener), RLOCK_INVALID);
    assert_status(rlock_add_listener(lock, note, &mine, NULL), RLOCK_INVALID);
    assert_status(rlock_add_listener(NULL, note, &mine, &listener), RLOCK_INVALID);
    assert_status(rlock_add_listener(multi, note, &mine, &listener), RLOCK_UNSUPPORTED);
    rlock_remove_listener(NULL);
    rlock_free(multi);
}
