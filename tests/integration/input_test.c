/* Bad input: each mistake of a program is answered with its status and its words, and does nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(input, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define MIB ((size_t)1024 * 1024)

TimedTest(input, null_lock_is_invalid_everywhere)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    bool flag = true;
    int count = 77;
    int64_t ms = 77;
    assert_status(rlock_lock(NULL), RLOCK_INVALID);
    assert_error("lock is NULL");
    assert_status(rlock_lock_lease(NULL, 1000), RLOCK_INVALID);
    assert_status(rlock_try_lock(NULL, 0, 1000), RLOCK_INVALID);
    assert_status(rlock_lock_with(NULL, &options), RLOCK_INVALID);
    assert_status(rlock_unlock(NULL), RLOCK_INVALID);
    assert_status(rlock_force_unlock(NULL, &flag), RLOCK_INVALID);
    assert_status(rlock_is_locked(NULL, &flag), RLOCK_INVALID);
    assert_status(rlock_is_held(NULL, &flag), RLOCK_INVALID);
    assert_status(rlock_get_hold_count(NULL, &count), RLOCK_INVALID);
    assert_status(rlock_remain_time_to_live(NULL, &ms), RLOCK_INVALID);
    cr_assert(flag && count == 77 && ms == 77, "an answer was set");
    cr_assert(rlock_valid_for(NULL) == 0);
    cr_assert(rlock_name(NULL) == NULL);
    cr_assert(rlock_for_owner(NULL, 1) == NULL);
    assert_error("NULL");
    rlock_free(NULL);
}

Test(input, null_place_for_an_answer_is_invalid)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t before = scripts_run();
    assert_status(rlock_is_locked(lock, NULL), RLOCK_INVALID);
    assert_error("NULL");
    assert_status(rlock_is_held(lock, NULL), RLOCK_INVALID);
    assert_status(rlock_get_hold_count(lock, NULL), RLOCK_INVALID);
    assert_status(rlock_remain_time_to_live(lock, NULL), RLOCK_INVALID);
    assert_status(rlock_inspect(stage.client, NAME, NULL), RLOCK_INVALID);
    assert_status(rlock_lock_with(lock, NULL), RLOCK_INVALID);
    assert_error("RLOCK_LOCK_OPTIONS_INIT");
    cr_assert(scripts_run() == before, "the server was asked");
    assert_ok(rlock_force_unlock(lock, NULL)); /* the one that may be */
}

Test(input, null_client_is_invalid_everywhere)
{
    rlock_inspection *inspection = NULL;
    cr_assert(rlock_get_lock(NULL, NAME) == NULL);
    assert_error("client is NULL");
    assert_status(rlock_inspect(NULL, NAME, &inspection), RLOCK_INVALID);
    cr_assert(inspection == NULL);
    cr_assert(rlock_client_id(NULL) == NULL);
    assert_status(rlock_on_lost(NULL, NULL, NULL), RLOCK_INVALID);
    rlock_client_close(NULL);
    rlock_inspection_free(NULL);
}

Test(input, null_lock_of_a_closed_client_says_why)
{
    rlock_client *client = stage_client(NULL);
    rlock *before = rlock_get_lock(client, NAME);
    stage_close_client(client);
    assert_status(rlock_lock(before), RLOCK_CLOSED);
    assert_status(rlock_lock(NULL), RLOCK_INVALID);
    assert_error("the lock is NULL; the last failure in this thread was: ", "closed");
    rlock_free(before);
}

/* The reason of an earlier failure is told only if it may be why there is no handle. */
Test(input, null_lock_is_not_blamed_on_another_call)
{
    cr_assert(!rlock_get_lock(stage.client, ""));
    assert_status(rlock_lock(NULL), RLOCK_INVALID);
    assert_error("the lock is NULL; the last failure in this thread was: ", "empty");
    assert_status(rlock_unlock(lock_of(stage.client, NAME)), RLOCK_NOT_OWNER);
    assert_status(rlock_lock(NULL), RLOCK_INVALID);
    cr_assert_str_eq(rlock_last_error(), "the lock is NULL; check what the call that makes it returns");
}

Test(input, null_in_opening_is_invalid)
{
    rlock_client *client = NULL;
    rlock_config config;
    rlock_config_init(NULL);
    rlock_config_init(&config);
    assert_status(rlock_client_open(NULL, server_url(stage.server)), RLOCK_INVALID);
    assert_status(rlock_client_open(&client, NULL), RLOCK_INVALID);
    assert_error("URL");
    assert_status(rlock_client_open_config(&client, NULL), RLOCK_INVALID);
    assert_error("rlock_config_init");
    assert_status(rlock_client_open_config(&client, &config), RLOCK_INVALID);
    assert_error("address");
    config.address = server_url(stage.server);
    assert_status(rlock_client_open_config(NULL, &config), RLOCK_INVALID);
    cr_assert(client == NULL);
}

static bool no_name(const char *name, void *arg)
{
    (void)arg;
    cr_assert(false, "found %s", name);
    return true;
}

static void no_server(const rlock_server *seen, void *arg)
{
    (void)arg;
    cr_assert(false, "asked %s", seen->address);
}

Test(input, wrong_search_is_refused)
{
    assert_status(rlock_find(NULL, NULL, RLOCK_FIND_LOCKS, no_name, NULL), RLOCK_INVALID);
    assert_status(rlock_find(stage.client, NULL, RLOCK_FIND_LOCKS, NULL, NULL), RLOCK_INVALID);
    assert_status(rlock_find(stage.client, "", RLOCK_FIND_LOCKS, no_name, NULL), RLOCK_INVALID);
    assert_error("pattern is empty");
    assert_status(rlock_find(stage.client, NULL, (rlock_find_what)2, no_name, NULL), RLOCK_INVALID);
    assert_error("not 2");
    assert_status(rlock_examine(NULL, no_server, NULL), RLOCK_INVALID);
    assert_status(rlock_examine(stage.client, NULL, NULL), RLOCK_INVALID);
    assert_error("function for the servers");
}

Test(input, null_or_empty_name_is_refused)
{
    rlock_inspection *inspection = NULL;
    cr_assert(rlock_get_lock(stage.client, NULL) == NULL);
    assert_error("name is NULL");
    cr_assert(rlock_get_lock(stage.client, "") == NULL);
    assert_error("name is empty");
    assert_status(rlock_inspect(stage.client, NULL, &inspection), RLOCK_INVALID);
    assert_status(rlock_inspect(stage.client, "", &inspection), RLOCK_INVALID);
    cr_assert(inspection == NULL);
    /* A prefix does not make an empty name one. */
    cr_assert(rlock_get_lock(stage_client("namePrefix=shop:"), "") == NULL);
}

/* A text of `length` bytes that takes one MiB of memory: the same pages, over and over. */
static char *long_text(size_t length)
{
    size_t size = (length / MIB + 1) * MIB;
    char *text = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int fd = memfd_create("text", MFD_CLOEXEC);
    cr_assert(text != MAP_FAILED && fd >= 0 && ftruncate(fd, (off_t)MIB) == 0);
    for (size_t at = 0; at < size; at += MIB) {
        /* The last MiB is its own: it has the end. */
        int sharing = at + MIB < size ? MAP_SHARED : MAP_PRIVATE;
        cr_assert(mmap(text + at, MIB, PROT_READ | PROT_WRITE, sharing | MAP_FIXED, fd, 0) != MAP_FAILED);
    }
    memset(text, 'x', MIB);
    text[length] = 0;
    close(fd);
    return text;
}

Test(input, name_longer_than_512_mib_is_refused)
{
    static const size_t lengths[] = {512 * MIB, 512 * MIB + 1, 600 * MIB};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        rlock_inspection *inspection = NULL;
        char *name = long_text(lengths[i]);
        cr_assert(strlen(name) == lengths[i]);
        cr_assert(rlock_get_lock(stage.client, name) == NULL);
        assert_error("512 MiB");
        assert_status(rlock_inspect(stage.client, name, &inspection), RLOCK_INVALID);
        munmap(name, lengths[i] / MIB * MIB + MIB);
    }
}

/* Refused before anything is sent: an overflowing lease would leave a lock without an end. */
Test(input, lease_out_of_range_is_refused)
{
    static const int64_t leases_ms[] = {0, -2, -1000, INT64_MIN, RLOCK_LEASE_MAX_MS + 1, INT64_MAX};
    rlock *lock = lock_of(stage.client, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    int64_t before = scripts_run();
    for (size_t i = 0; i < sizeof leases_ms / sizeof *leases_ms; i++) {
        assert_status(rlock_lock_lease(lock, leases_ms[i]), RLOCK_INVALID);
        assert_error("lease");
        assert_error("100 years");
        assert_status(rlock_try_lock(lock, 0, leases_ms[i]), RLOCK_INVALID);
        assert_status(rlock_try_lock(lock, 1000, leases_ms[i]), RLOCK_INVALID);
        options.lease_ms = leases_ms[i];
        assert_status(rlock_lock_with(lock, &options), RLOCK_INVALID);
    }
    cr_assert(scripts_run() == before, "the server was asked");
    assert_no_keys();
}

/* Also when the lock is held: nothing is added, nothing lost. */
TimedTest(input, lease_out_of_range_changes_no_hold)
{
    rlock *lock = lock_of(stage.client, NAME);
    int count = 0;
    assert_ok(rlock_lock(lock));
    assert_status(rlock_lock_lease(lock, 0), RLOCK_INVALID);
    assert_status(rlock_lock_lease(lock, INT64_MAX), RLOCK_INVALID);
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == 1);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(input, negative_wait_is_none)
{
    static const int64_t waits_ms[] = {-1, -1000, INT64_MIN};
    rlock *lock = lock_of(stage.client, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        options.wait_ms = waits_ms[i];
        assert_ok(rlock_try_lock(lock, waits_ms[i], 1000));
        assert_ok(rlock_lock_with(lock, &options));
        assert_ok(rlock_unlock(lock));
        assert_ok(rlock_unlock(lock));
    }
    foreign_hold(NAME, 60000);
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++)
        assert_status(rlock_try_lock(lock, waits_ms[i], 1000), RLOCK_TIMEOUT);
}

/* Sizes of no struct that the library knows, as of a forgotten initializer. */
Test(input, struct_of_another_size_is_refused)
{
    static const size_t sizes[] = {0, 1, sizeof(rlock_lock_options) - 1, sizeof(rlock_lock_options) + 1, SIZE_MAX};
    rlock *lock = lock_of(stage.client, NAME);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        options.size = sizes[i];
        assert_status(rlock_lock_with(lock, &options), RLOCK_INVALID);
        assert_error("RLOCK_LOCK_OPTIONS_INIT");
    }
    rlock_lock_options zeroed = {0};
    assert_status(rlock_lock_with(lock, &zeroed), RLOCK_INVALID);
    rlock_config config = {0};
    rlock_client *client = NULL;
    config.address = server_url(stage.server);
    assert_status(rlock_client_open_config(&client, &config), RLOCK_INVALID);
    assert_error("rlock_config_init");
    cr_assert(client == NULL);
    assert_no_keys();
}

/* As a later header has each struct: a field more, which is 0 unless the program uses it. */
#define LATER(type)                                                                                                    \
    struct {                                                                                                           \
        type known;                                                                                                    \
        int64_t further;                                                                                               \
    }

Test(input, struct_of_a_newer_program_is_taken_as_long_as_it_asks_for_nothing_new)
{
    LATER(rlock_lock_options) of_lock = {RLOCK_LOCK_OPTIONS_INIT, 0};
    LATER(rlock_semaphore_options) of_semaphore = {RLOCK_SEMAPHORE_OPTIONS_INIT, 0};
    LATER(rlock_permit_options) of_permit = {RLOCK_PERMIT_OPTIONS_INIT, 0};
    LATER(rlock_await_options) of_latch = {RLOCK_AWAIT_OPTIONS_INIT, 0};
    LATER(rlock_back_off) of_spin = {RLOCK_BACK_OFF_INIT, 0};
    of_lock.known.size = sizeof of_lock;
    of_semaphore.known.size = sizeof of_semaphore;
    of_permit.known.size = sizeof of_permit;
    of_latch.known.size = sizeof of_latch;
    of_spin.known.size = sizeof of_spin;
    rlock *lock = lock_of(stage.client, NAME), *spin;
    rlock_semaphore *semaphore = rlock_get_semaphore(stage.client, NAME "-s");
    rlock_permit_semaphore *leased = rlock_get_permit_expirable_semaphore(stage.client, NAME "-p");
    rlock_count_down_latch *latch = rlock_get_count_down_latch(stage.client, NAME "-l");
    rlock_permit permit;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 1, NULL));
    assert_ok(rlock_permit_semaphore_try_set_permits(leased, 1, NULL));
    for (int64_t further = 0; further < 2; further++) {
        rlock_status expected = further ? RLOCK_INVALID : RLOCK_OK;
        of_lock.further = of_semaphore.further = of_permit.further = of_latch.further = of_spin.further = further;
        assert_status(rlock_lock_with(lock, &of_lock.known), expected);
        assert_status(rlock_semaphore_acquire_with(semaphore, 1, &of_semaphore.known), expected);
        assert_status(rlock_permit_semaphore_acquire_with(leased, 1, &of_permit.known, &permit), expected);
        assert_status(rlock_count_down_latch_await_with(latch, &of_latch.known), expected);
        spin = rlock_get_spin_lock_with(stage.client, NAME, &of_spin.known);
        cr_assert(!spin == (further != 0), "%s", rlock_last_error());
        rlock_free(spin);
    }
    assert_error("newer");
    assert_ok(rlock_unlock(lock));
    rlock_semaphore_free(semaphore);
    rlock_permit_semaphore_free(leased);
    rlock_count_down_latch_free(latch);
}

/* As Redisson's IllegalMonitorStateException has it. */
Test(input, unlock_without_hold_says_who_asked)
{
    char expected[160];
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock_of(stage.other, NAME)));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    snprintf(expected, sizeof expected,
             "attempt to unlock lock, not locked by current thread by node id: %s thread-id: ",
             rlock_client_id(stage.client));
    const char *said = rlock_last_error();
    cr_assert(strncmp(said, expected, strlen(expected)) == 0, "%s", said);
    char *end;
    cr_assert(strtoll(said + strlen(expected), &end, 10) > 0 && *end == ';', "%s", said);
    assert_status(rlock_unlock(owned_by(lock, -5)), RLOCK_NOT_OWNER);
    assert_error(rlock_client_id(stage.client));
    assert_error("-5");
}

/* One thread's failure is no other's, and a success leaves the words alone. */
Test(input, last_error_stays_until_the_next_failure)
{
    char said[512];
    rlock *lock = lock_of(stage.client, NAME);
    cr_assert(strcmp(rlock_last_error(), "") == 0);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    snprintf(said, sizeof said, "%s", rlock_last_error());
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(strcmp(rlock_last_error(), said) == 0);
    cr_assert(rlock_get_lock(stage.client, "") == NULL);
    cr_assert(strcmp(rlock_last_error(), said) != 0);
}
