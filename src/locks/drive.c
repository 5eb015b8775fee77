/* Drive: has the calling thread carry out a job that is written for operations without one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/drive.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/ready.h"
#include "client/client.h"
#include "redis/pipeline/polls.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

/* When not all connections are polled: how soon to look again. */
#define LOOK_MS 5
/* No sleep is longer, because poll does not count the time for which the system is suspended. */
#define SLEEP_MS 1000

typedef struct driving {
    rli_composite *set;
    rli_operation whole;
    rli_ready ready;
} driving;

/* Returns the client of a member, or NULL if the member before it has the same one. In the sorted order those of one
 * server are neighbours. */
static rlock_client *client_at(const driving *self, size_t i)
{
    rlock *const *sorted = rli_composite_sorted(self->set);
    rlock_client *client = sorted[i]->methods->place(sorted[i]).client;
    return i > 0 && sorted[i - 1]->methods->place(sorted[i - 1]).client == client ? NULL : client;
}

static void read_all(driving *self)
{
    for (size_t i = 0; i < self->set->count; i++) {
        rlock_client *client = client_at(self, i);
        if (client)
            rli_topology_collect(&client->topology, rli_now_ms());
    }
}

/* Sleeps until an answer can be read, the whole is woken, or its time comes. */
static void wait_for_any(driving *self)
{
    rli_polls polls;
    rli_polls_begin(&polls, self->ready.fd);
    for (size_t i = 0; i < self->set->count; i++) {
        rlock_client *client = client_at(self, i);
        if (client)
            rli_topology_poll(&client->topology, &polls);
    }
    int64_t left_ms = self->whole.own.wake_ms - rli_now_ms();
    left_ms = rli_earlier(left_ms, polls.lacks ? LOOK_MS : SLEEP_MS);
    poll(polls.polled, polls.count, left_ms > 0 ? (int)left_ms : 0);
    rli_polls_end(&polls);
}

/* Waits until the whole can go on. */
static void await(driving *self)
{
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

static rlock_status drive(driving *self, rlock *handle, const rli_job *job, void *memory, int64_t *answer)
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

rlock_status rli_drive(rlock *handle, const rli_job *job, int64_t *answer, bool *begun)
{
    *begun = false;
    driving self = {.set = rli_composite_of(handle)};
    void *memory = malloc(handle->methods->room(handle, job->kind));
    if (!memory)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a lock of %zu", self.set->count);
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    rlock_status status = rli_ready_init(&self.ready);
    if (status == RLOCK_OK) {
        status = rli_operation_begin_async(&self.whole, &rli_composite_home(handle)->gate, job->cancel, &self.ready);
        *begun = status == RLOCK_OK;
        if (*begun) {
            status = drive(&self, handle, job, memory, answer);
            rli_operation_end(&self.whole);
        }
        rli_ready_destroy(&self.ready);
    }
    pthread_setcancelstate(cancel_state, NULL);
    free(memory);
    return status;
}
