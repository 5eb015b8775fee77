/* Either: the calls of a permit-expirable semaphore, made in C or in Java. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/either.h"

#include "tests/interop/support/process.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

rlock_permit_semaphore *our_permits;

void either_open(void)
{
    our_permits = rlock_get_permit_expirable_semaphore(stage.client, PERMITS_NAME);
}

void either_close(void)
{
    waiter_stage_close();
    rlock_permit_semaphore_free(our_permits);
}

const answer *either_said(const answer *got)
{
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return got;
}

bool either_is_true(const answer *got)
{
    return strcmp(got->text, "true") == 0;
}

static const char *number(int64_t value)
{
    static char texts[4][24];
    static int next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], "%lld", (long long)value);
    return text;
}

bool either_set_first(bool in_java, int count)
{
    bool done = false;
    if (in_java)
        return either_is_true(ASK_PERMITS("trySet", number(count)));
    assert_ok(rlock_permit_semaphore_try_set_permits(our_permits, count, &done));
    return done;
}

void either_set(bool in_java, int count)
{
    if (in_java)
        ASK_PERMITS("set", number(count));
    else
        assert_ok(rlock_permit_semaphore_set_permits(our_permits, count));
}

void either_add(bool in_java, int count)
{
    if (in_java)
        ASK_PERMITS("add", number(count));
    else
        assert_ok(rlock_permit_semaphore_add_permits(our_permits, count));
}

int either_read_ids(const char *text, rlock_permit permits[PERMITS_AT_ONCE])
{
    int count = 0;
    for (; *text && count < PERMITS_AT_ONCE; count++) {
        size_t length = strcspn(text, ",");
        cr_assert(length == 32 && strspn(text, "0123456789abcdef") == 32, "no permit ids: %s", text);
        snprintf(permits[count].id, sizeof permits[count].id, "%.32s", text);
        text += length + (text[length] == ',');
    }
    return count;
}

static const char *write_ids(const rlock_permit *permits, int count)
{
    static char text[PERMITS_AT_ONCE * 33];
    *text = 0;
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "," : "", permits[i].id);
    return text;
}

bool either_take(bool in_java, int count, int64_t lease_ms, rlock_permit *permits)
{
    if (in_java)
        return either_read_ids(ASK_PERMITS("try", number(count), "0", number(lease_ms))->text, permits) == count;
    rlock_status status = rlock_permit_semaphore_try_acquire_many(our_permits, count, 0, lease_ms, permits);
    assert_status(status, status == RLOCK_TIMEOUT ? RLOCK_TIMEOUT : RLOCK_OK);
    return status == RLOCK_OK;
}

void either_give(bool in_java, const rlock_permit *permits, int count)
{
    if (in_java)
        ASK_PERMITS("release", write_ids(permits, count));
    else
        assert_ok(rlock_permit_semaphore_release_many(our_permits, count, permits));
}

bool either_try_give(bool in_java, const rlock_permit *permit)
{
    bool done = false;
    if (in_java)
        return either_is_true(ASK_PERMITS("tryReleaseOne", permit->id));
    assert_ok(rlock_permit_semaphore_try_release(our_permits, permit->id, &done));
    return done;
}

int either_try_give_many(bool in_java, const rlock_permit *permits, int count)
{
    int given = -1;
    if (in_java)
        return atoi(ASK_PERMITS("tryRelease", write_ids(permits, count))->text);
    assert_ok(rlock_permit_semaphore_try_release_many(our_permits, count, permits, &given));
    return given;
}

bool either_update(bool in_java, const rlock_permit *permit, int64_t lease_ms)
{
    bool done = false;
    if (in_java)
        return either_is_true(ASK_PERMITS("updateLease", permit->id, number(lease_ms)));
    assert_ok(rlock_permit_semaphore_update_lease_time(our_permits, permit->id, lease_ms, &done));
    return done;
}

int64_t either_lease_left(bool in_java, const rlock_permit *permit)
{
    int64_t ms = 0;
    if (in_java)
        return atoll(ASK_PERMITS("leaseLeft", permit->id)->text);
    assert_ok(rlock_permit_semaphore_get_lease_time(our_permits, permit->id, &ms));
    return ms;
}

void assert_permits(int available, int acquired, int total)
{
    int counts[3] = {-99, -99, -99};
    assert_ok(rlock_permit_semaphore_available_permits(our_permits, &counts[0]));
    assert_ok(rlock_permit_semaphore_acquired_permits(our_permits, &counts[1]));
    assert_ok(rlock_permit_semaphore_get_permits(our_permits, &counts[2]));
    int theirs[3] = {atoi(ASK_PERMITS("available")->text), atoi(ASK_PERMITS("acquired")->text),
                     atoi(ASK_PERMITS("permits")->text)};
    cr_assert(memcmp(counts, theirs, sizeof counts) == 0, "to C %d, %d, %d; to Java %d, %d, %d", counts[0], counts[1],
              counts[2], theirs[0], theirs[1], theirs[2]);
    cr_assert(counts[0] == available && counts[1] == acquired && counts[2] == total,
              "%d available, %d acquired, %d in all", counts[0], counts[1], counts[2]);
}

static rlock_status meet(void *arg)
{
    permit_demand *self = arg;
    return rlock_permit_semaphore_try_acquire_many(our_permits, self->count, self->wait_ms, self->lease_ms,
                                                   self->permits);
}

permit_demand permit_demands[PERMIT_DEMANDS];

waiter *either_begin_demand(bool in_java, int which, int count, int64_t wait_ms, int64_t lease_ms)
{
    permit_demand *demand = &permit_demands[which];
    *demand = (permit_demand){.count = count, .wait_ms = wait_ms, .lease_ms = lease_ms};
    return in_java ? WAIT_IN_JAVA("permits", PERMITS_NAME, "try", number(count), number(wait_ms), number(lease_ms))
                   : wait_in_c(meet, demand);
}

waiter *either_demand(bool in_java, int which, int count, int64_t wait_ms, int64_t lease_ms)
{
    waiter *self = either_begin_demand(in_java, which, count, wait_ms, lease_ms);
    waiter_await_asleep(self);
    return self;
}

const rlock_permit *either_got(waiter *self, int which)
{
    cr_assert(waiter_served(self, BY_MESSAGE_MS));
    if (*waiter_text(self))
        either_read_ids(waiter_text(self), permit_demands[which].permits);
    return permit_demands[which].permits;
}

/* --- a holder --- */

static int hold(void *arg)
{
    permit_holder *self = arg;
    rlock_client *client = NULL;
    rlock_permit_semaphore *semaphore = NULL;
    bool held = rlock_client_open(&client, self->url) == RLOCK_OK &&
                (semaphore = rlock_get_permit_expirable_semaphore(client, PERMITS_NAME)) != NULL &&
                rlock_permit_semaphore_acquire(semaphore, self->lease_ms, &self->permit) == RLOCK_OK;
    self->holds = held ? 1 : -1;
    pause();
    return 0;
}

pid_t permit_holder_start(permit_holder *holder, int64_t lease_ms)
{
    snprintf(holder->url, sizeof holder->url, "%s?" STAGE_QUICK "&clientName=" PERMIT_VICTIM, server_url(stage.server));
    holder->lease_ms = lease_ms;
    pid_t child = process_start(hold, holder);
    for (int64_t end_ms = limit_end_ms(5000); !holder->holds && now_ms() < end_ms;)
        pass_ms(1);
    cr_assert(holder->holds == 1, "the C process has no permit");
    return child;
}
