/* Drive: has the calling thread carry out what is written for operations without one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/drive.h"

#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "redis/pipeline/async_request.h"
#include "redis/pipeline/polls.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

/* When not all connections are polled: how soon to look again. */
#define LOOK_MS 5
/* No sleep is longer, because poll does not count the time for which the system is suspended. */
#define SLEEP_MS 1000

/* --- the clients of the members --- */

static bool is_known(const rli_drive *self, const rlock_client *client)
{
    size_t i = 0;
    while (i < self->count && self->clients[i] != client)
        i++;
    return i < self->count;
}

static void find_clients(rli_drive *self)
{
    for (size_t i = 0; i < self->set->count && !self->many; i++) {
        rlock_client *client = rli_composite_client_of(self->set->members[i]);
        if (is_known(self, client))
            continue;
        self->many = self->count == RLI_DRIVE_CLIENTS;
        if (!self->many)
            self->clients[self->count++] = client;
    }
}

/* Returns the first client, for *at 0, or the next; NULL: there are no more. Where there are many, it returns one twice
 * if members of others are between its own. */
static rlock_client *next_client(const rli_drive *self, size_t *at)
{
    rlock *const *sorted = rli_composite_sorted(self->set);
    if (!self->many)
        return *at < self->count ? self->clients[(*at)++] : NULL;
    while (*at > 0 && *at < self->set->count &&
           rli_composite_client_of(sorted[*at]) == rli_composite_client_of(sorted[*at - 1]))
        (*at)++;
    return *at < self->set->count ? rli_composite_client_of(sorted[(*at)++]) : NULL;
}

/* --- waiting --- */

void rli_drive_send(const rli_drive *self)
{
    rlock_client *client;
    for (size_t at = 0; (client = next_client(self, &at));)
        rli_topology_flush(&client->topology);
}

/* Else the answer for a red lock's keeper, whose turn the whole may wait for, would be read only by the watchdog, a
 * tenth of a second later. */
static void read_all(const rli_drive *self)
{
    rlock_client *client;
    for (size_t at = 0; (client = next_client(self, &at));) {
        rli_topology_collect(&client->topology, rli_now_ms());
        rli_loop_tend(client);
    }
}

/* Sleeps until an answer can be read, the whole is woken, or its time comes. */
static void wait_for_any(rli_drive *self)
{
    rli_polls polls;
    rlock_client *client;
    rli_polls_begin(&polls, self->ready.fd);
    for (size_t at = 0; (client = next_client(self, &at));)
        rli_topology_poll(&client->topology, &polls);
    int64_t left_ms = self->whole.own.wake_ms - rli_now_ms();
    left_ms = rli_earlier(left_ms, polls.lacks ? LOOK_MS : SLEEP_MS);
    poll(polls.polled, polls.count, left_ms > 0 ? (int)left_ms : 0);
    rli_polls_end(&polls);
}

/* Sends what is queued, and waits until the whole can go on. */
static void await(rli_drive *self)
{
    rli_drive_send(self);
    for (;;) {
        rli_ready_begin(&self->ready);
        rli_parker *parker = rli_ready_take(&self->ready);
        rli_ready_end(&self->ready);
        if (parker) {
            rli_parker_resume(parker);
            return;
        }
        if (rli_now_ms() >= self->whole.own.wake_ms) {
            rli_unpark(&self->whole.own);
            continue;
        }
        wait_for_any(self);
        read_all(self);
    }
}

/* --- driving --- */

rlock_status rli_drive_begin(rli_drive *self, rlock *handle, rlock_cancel *cancel)
{
    self->set = rli_composite_of(handle);
    self->count = 0;
    self->many = false;
    rlock_status status = rli_ready_init(&self->ready);
    if (status != RLOCK_OK)
        return status;
    status = rli_operation_begin_async(&self->whole, &rli_composite_home(handle)->gate, cancel, &self->ready);
    if (status != RLOCK_OK) {
        rli_ready_destroy(&self->ready);
        return status;
    }
    find_clients(self);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &self->cancel_state);
    self->gathered = rli_async_request_gather(&self->ready);
    return RLOCK_OK;
}

void rli_drive_end(rli_drive *self)
{
    rli_async_request_gather(self->gathered);
    rli_operation_end(&self->whole);
    rli_ready_destroy(&self->ready);
    pthread_setcancelstate(self->cancel_state, NULL);
}

void rli_drive_ballot(rli_drive *self, rli_ballot *ballot)
{
    while (rli_ballot_go_on(ballot) == RLI_WAITING) {
        if (rli_parker_rest(&self->whole.own))
            await(self);
    }
}

static rlock_status drive(rli_drive *self, rlock *handle, const rli_job *job, void *memory, int64_t *answer)
{
    rlock_status status;
    rli_machine *machine = handle->methods->begin(handle, job, &self->whole, memory);
    while ((status = machine->go_on(machine)) == RLI_WAITING) {
        if (rli_parker_rest(&self->whole.own))
            await(self);
    }
    if (answer)
        *answer = machine->answer;
    return status;
}

rlock_status rli_drive_job(rlock *handle, const rli_job *job, int64_t *answer, bool *begun)
{
    rli_drive self;
    *begun = false;
    void *memory = malloc(handle->methods->room(handle, job->kind));
    if (!memory)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a lock of %zu", rli_composite_of(handle)->count);
    rlock_status status = rli_drive_begin(&self, handle, job->cancel);
    *begun = status == RLOCK_OK;
    if (*begun) {
        status = drive(&self, handle, job, memory, answer);
        rli_drive_end(&self);
    }
    free(memory);
    return status;
}
