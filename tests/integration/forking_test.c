/* Forks in functions that the library calls: the child returns from the function into the library, which goes on there
 * with nothing that is its parent's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/child.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(forking, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define LIMIT_S 20

static _Atomic pid_t forked; /* 0: not yet, and in the child */
static atomic_int calls;     /* of functions, counted in each process */

static bool is_child(void)
{
    return atomic_load(&calls) > 0 && atomic_load(&forked) == 0;
}

/* Each function under test calls this. The first call forks. */
static void fork_once(void)
{
    if (atomic_fetch_add(&calls, 1) > 0)
        return;
    pid_t pid = fork();
    atomic_store(&forked, pid);
    if (pid == 0)
        alarm(LIMIT_S); /* a deadlock ends, too */
}

static void leave_if_child(bool well)
{
    if (is_child())
        _exit(well ? 0 : 1);
}

static void assert_child_ends_well(void)
{
    int status = -1;
    cr_assert(waitpid(atomic_load(&forked), &status, 0) == atomic_load(&forked));
    cr_assert(WIFEXITED(status), "the child was ended by signal %d", WTERMSIG(status));
    cr_assert(WEXITSTATUS(status) == 0, "it was not well in the child");
}

/* --- async calls --- */

static rlock_client *own; /* the child's */
static rlock *following;

static void note(const rlock_result *result, void *arg)
{
    (void)result;
    (void)arg;
    atomic_fetch_add(&calls, 1);
}

/* What it begins is only queued when it forks. */
static void begin_and_fork(const rlock_result *result, void *arg)
{
    (void)result;
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.named_owner = true;
    options.owner = 7;
    assert_ok(rlock_lock_async(following, &options, note, arg));
    fork_once();
    if (is_child() && rlock_client_open(&own, server_url(stage.server)) != RLOCK_OK)
        _exit(1);
}

static rlock_status process(rlock_client *client)
{
    poll(&(struct pollfd){.fd = rlock_client_fd(client), .events = POLLIN}, 1, 100);
    return rlock_client_process(client);
}

/* In the child: its connection has the number of one of its parent's, which has something to send. */
static bool is_refused_what_others_hold(void)
{
    rlock *taken = rlock_get_lock(own, "taken");
    return rlock_try_lock(taken, 0, 5000) == RLOCK_TIMEOUT && rlock_valid_for(taken) == 0;
}

RealTest(forking, child_of_an_async_function_sends_nothing_of_its_parents)
{
    if (!CHILD_MAY_START_THREADS || !CHILD_MAY_ALLOCATE)
        cr_skip_test("the sanitizer does not follow a forked child");
    assert_ok(rlock_lock(lock_of(stage.other, "taken")));
    following = lock_of(stage.client, NAME);
    assert_ok(rlock_is_locked_async(following, begin_and_fork, NULL));
    rlock_status status = RLOCK_OK;
    while (atomic_load(&calls) == 0)
        status = process(stage.client);
    leave_if_child(status == RLOCK_FORKED && atomic_load(&calls) == 1 && is_refused_what_others_hold());
    cr_assert(status == RLOCK_OK);
    assert_child_ends_well();
    while (atomic_load(&calls) == 1)
        assert_ok(process(stage.client));
    assert_ok(rlock_unlock(owned_by(following, 7)));
}

static void fork_in(const rlock_result *result, void *arg)
{
    (void)result;
    (void)arg;
    fork_once();
}

/* Two calls have ended when the first one's function forks. */
static void begin_two(void)
{
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_is_locked_async(lock_of(stage.client, NAME), fork_in, NULL));
}

RealTest(forking, child_of_an_async_function_calls_no_other)
{
    begin_two();
    rlock_status status = RLOCK_OK;
    while (atomic_load(&calls) == 0)
        status = process(stage.client);
    leave_if_child(status == RLOCK_FORKED && atomic_load(&calls) == 1);
    assert_child_ends_well();
    while (atomic_load(&calls) == 1)
        assert_ok(process(stage.client));
}

RealTest(forking, child_of_a_function_that_close_calls_calls_no_other)
{
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, server_url(stage.server)));
    rlock *lock = rlock_get_lock(client, NAME);
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_is_locked_async(lock, fork_in, NULL));
    rlock_client_close(client);
    leave_if_child(atomic_load(&calls) == 1);
    cr_assert(atomic_load(&calls) == 2);
    assert_child_ends_well();
    rlock_free(lock);
}

/* --- others --- */

static void lost_and_fork(const rlock_lost_event *lost, void *arg)
{
    (void)lost;
    (void)arg;
    fork_once();
}

/* Its only thread ends, and it with it. */
RealTest(forking, child_of_the_function_for_losses_ends)
{
    assert_ok(rlock_on_lost(stage.client, lost_and_fork, NULL));
    assert_ok(rlock_try_lock(lock_of(stage.client, NAME), 0, 300));
    assert_ok(rlock_try_lock(lock_of(stage.client, "another"), 0, 300));
    while (atomic_load(&calls) < 2)
        pass_ms(1);
    assert_child_ends_well();
}

static void hear_and_fork(const rlock_event *heard, void *arg)
{
    (void)heard;
    (void)arg;
    fork_once();
}

RealTest(forking, child_of_a_listener_ends)
{
    rlock_listener *listener = NULL;
    freeReplyObject(server_command(stage.server, "CONFIG SET notify-keyspace-events KA"));
    assert_ok(rlock_add_listener(lock_of(stage.client, NAME), hear_and_fork, NULL, &listener));
    for (int deleted = 1; deleted <= 2; deleted++) {
        foreign_hold(NAME, 60000);
        foreign_vanish(NAME);
        while (atomic_load(&calls) < deleted)
            pass_ms(1);
    }
    assert_child_ends_well();
    rlock_remove_listener(listener);
}

static rlock_status load_and_fork(const char *key, void *arg, void **bytes, size_t *length)
{
    (void)key;
    (void)arg;
    (void)bytes;
    (void)length;
    fork_once();
    return RLOCK_OK;
}

RealTest(forking, child_of_a_load_is_told)
{
    rlock_loaded *loaded = NULL;
    rlock_singleflight *flights = rlock_singleflight_new();
    rlock_status status = rlock_singleflight_do(flights, "key", NULL, load_and_fork, NULL, &loaded);
    leave_if_child(status == RLOCK_FORKED);
    assert_ok(status);
    assert_child_ends_well();
    rlock_singleflight_free(flights);
}

static bool find_and_fork(const char *name, void *arg)
{
    (void)name;
    (void)arg;
    fork_once();
    return true;
}

RealTest(forking, child_of_a_search_is_told)
{
    foreign_hold("one", 60000);
    foreign_hold("two", 60000);
    rlock_status status = rlock_find(stage.client, NULL, RLOCK_FIND_LOCKS, find_and_fork, NULL);
    leave_if_child(status == RLOCK_FORKED && atomic_load(&calls) == 1);
    assert_ok(status);
    cr_assert(atomic_load(&calls) == 2);
    assert_child_ends_well();
}
