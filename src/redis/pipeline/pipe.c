/* A pipe: one living connection of a pipeline, with the requests that are queued, sent and unanswered on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/pipe_parts.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "redis/pipeline/outgoing.h"
#include "redis/pipeline/replica_ack.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

rlock_status rli_pipe_open(rli_pipe **pipe, const rli_settings *settings, const rli_address *address,
                           rli_receive_timeout *receive_timeout, const atomic_int *replicas,
                           const rli_patience *patience)
{
    rli_pipe *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    fresh->receive_timeout = receive_timeout;
    fresh->guarded_until_ms = RLI_NEVER;
    fresh->overdue_since_ms = RLI_NEVER;
    /* a receive that only checks for bytes never qualifies */
    fresh->guarded_from_ms = settings->timeout_ms > 1 ? settings->timeout_ms - 1 : 1;
    fresh->ack = (rli_replica_ack){.listed = replicas, .timeout_ms = settings->sync_timeout_ms};
    fresh->users = 1;
    /* random, so that the callers of different pipes sleep at different places */
    fresh->place = (unsigned)rli_random_up_to(RLI_PLACES);
    rlock_status status = rli_connection_open(&fresh->connection, settings, address, patience);
    fresh->used_ms = rli_now_ms();
    if (status != RLOCK_OK)
        free(fresh);
    else
        *pipe = fresh;
    return status;
}

void rli_pipe_ref(rli_pipe *pipe)
{
    pipe->users++;
}

void rli_pipe_unref(rli_pipe *pipe)
{
    if (--pipe->users > 0)
        return;
    rli_connection_close(&pipe->connection);
    rli_outgoing_free(&pipe->outgoing);
    free(pipe);
}

bool rli_pipe_is_unused(const rli_pipe *pipe)
{
    return pipe->users == 1;
}

uint64_t rli_pipe_run_id(const rli_pipe *pipe)
{
    return pipe->connection.run_id;
}

rli_shared_socket *rli_pipe_share(rli_pipe *pipe)
{
    return pipe->ended ? NULL : rli_connection_share(&pipe->connection);
}

/* --- sending --- */

/* Returns whether replicas have to acknowledge what is written on it. */
static bool has_ack(const rli_pipe *pipe)
{
    return pipe->ack.listed;
}

bool rli_pipe_queue(rli_pipe *pipe, rli_pending *pending, rli_parker *parker, const rli_command *command)
{
    bool gathers = pipe->outgoing.queued.length > 0;
    size_t bytes = rli_outgoing_add(&pipe->outgoing, command);
    if (!bytes)
        return false;
    pipe->used_ms = rli_now_ms();
    if (!gathers)
        pipe->ack.needed_ms = pipe->used_ms;
    *pending = (rli_pending){.parker = parker,
                             .queued_ms = pipe->used_ms,
                             .since_ms = pipe->used_ms + (has_ack(pipe) ? rli_replica_ack_time_ms(&pipe->ack) : 0),
                             .bytes = bytes,
                             .place = pipe->place++,
                             .asking = command->asking,
                             .witness = command->witness};
    rli_pending_append(&pipe->pending_list, pending);
    if (parker) {
        rli_parker_take(parker, RLI_FINISHED | RLI_LEAD); /* left over from an earlier request */
        rli_pipe_ref(pipe);
    }
    if (!pipe->awaited)
        pipe->awaited = pending;
    pipe->threadless += rli_pending_is_threadless(pending);
    return true;
}

bool rli_pipe_post(rli_pipe *pipe, rli_pending *pending, const rli_command *command)
{
    void (*done)(rli_pending *) = pending->done;
    bool queued = rli_pipe_queue(pipe, pending, NULL, command);
    pending->done = done;
    pipe->posts += queued;
    return queued;
}

int rli_pipe_posts(const rli_pipe *pipe)
{
    return pipe->posts;
}

bool rli_pipe_is_unattended(const rli_pipe *pipe)
{
    return pipe->posts > 0 || pipe->threadless > 0 || pipe->abandoned > 0;
}

/* Withdraws a request that is still queued for the next batch. False: its batch is being sent, or was. */
static bool take_back(rli_pipe *pipe, rli_pending *pending)
{
    size_t behind = 0; /* bytes of the requests queued after it */
    rli_pending *other = pipe->pending_list.last;
    for (int queued = pipe->pending_list.count - pipe->sent; queued > 0; queued--, other = other->previous) {
        if (other != pending) {
            behind += other->bytes;
            continue;
        }
        rli_outgoing_withdraw(&pipe->outgoing, pending->bytes, behind);
        if (pipe->awaited == pending)
            pipe->awaited = pending->next;
        rli_pending_remove(&pipe->pending_list, pending);
        rli_pipe_unref(pipe);
        return true;
    }
    return false;
}

bool rli_pipe_wants_flush(const rli_pipe *pipe)
{
    /* The first request is sent by its own thread as the leader, in lead() of pipeline.c. Later ones gather until they
     * are as many as the unanswered ones: the server then works on one batch while the next one grows, and neither
     * side waits for the other. The leader sends them earlier if replies arrive. */
    return pipe->leading && !pipe->outgoing.sending && pipe->pending_list.count - pipe->sent >= pipe->sent &&
           !(has_ack(pipe) && rli_replica_ack_is_busy(&pipe->ack));
}

/* Fewer cost more system calls; with more, the server waits while the loop gathers, and the loop while the server
 * works. */
#define GATHERED_MOST 16

bool rli_pipe_has_gathered_many(const rli_pipe *pipe)
{
    return !pipe->outgoing.sending && pipe->pending_list.count - pipe->sent >= GATHERED_MOST;
}

/* Requests are numbered in the order in which they were queued, from 1. */
static uint64_t number_of_last(const rli_pipe *pipe)
{
    return pipe->popped + (uint64_t)pipe->pending_list.count;
}

/* Whether all bytes of the requests up to `number` have been passed to the kernel. */
static bool has_left(const rli_pipe *pipe, uint64_t number)
{
    return pipe->ended || pipe->popped >= number ||
           (!rli_outgoing_has_rest(&pipe->outgoing) && pipe->popped + (uint64_t)pipe->sent >= number);
}

bool rli_pipe_has_unsent(const rli_pipe *pipe)
{
    return !pipe->ended && rli_outgoing_has_unsent(&pipe->outgoing);
}

short rli_pipe_wants(const rli_pipe *pipe)
{
    /* Not for what is queued behind a batch that replicas have yet to acknowledge: that waits for an answer. */
    bool needs_room = !pipe->ended && !pipe->outgoing.sending && rli_outgoing_has_rest(&pipe->outgoing);
    return (short)(rli_pipe_is_unattended(pipe) ? POLLIN | (needs_room ? POLLOUT : 0) : 0);
}

int rli_pipe_fd(const rli_pipe *pipe)
{
    return pipe->connection.fd;
}

void rli_pipe_watch(rli_pipe *pipe, int epoll_fd)
{
    uint32_t wanted = (uint32_t)rli_pipe_wants(pipe); /* the bits of epoll are those of poll */
    if (wanted == pipe->watched)
        return;
    int how = !pipe->watched ? EPOLL_CTL_ADD : wanted ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    struct epoll_event event = {.events = wanted, .data.fd = pipe->connection.fd};
    if (epoll_ctl(epoll_fd, how, pipe->connection.fd, &event) == 0)
        pipe->watched = wanted;
}

bool rli_pipe_flush(rli_pipe *pipe, pthread_mutex_t *mutex)
{
    rli_sent sent = RLI_SENT_ALL;
    while (sent == RLI_SENT_ALL && !pipe->ended && !pipe->outgoing.sending) {
        bool began = false;
        if (!rli_outgoing_begin(&pipe->outgoing, has_ack(pipe) ? &pipe->ack : NULL, &began))
            return false;
        if (began)
            pipe->sent = pipe->pending_list.count;
        if (!rli_outgoing_has_rest(&pipe->outgoing))
            break;
        sent = rli_outgoing_send(&pipe->outgoing, &pipe->connection, mutex);
        rli_turn_wake_all(pipe->unsent);
    }
    return sent != RLI_SENT_FAILED;
}

bool rli_pipe_flush_all(rli_pipe *pipe, pthread_mutex_t *mutex, int64_t until_ms)
{
    uint64_t number = number_of_last(pipe);
    rli_parker parker;
    rli_turn turn = {.parker = &parker};
    rli_parker_init(&parker);
    rli_turn_join(&pipe->unsent, &turn);
    bool alive = rli_pipe_flush(pipe, mutex);
    /* Another thread is sending and will go on with our bytes, or the leader will once the socket has room. */
    while (alive && !has_left(pipe, number) && (pipe->outgoing.sending || pipe->leading) && rli_now_ms() < until_ms) {
        pthread_mutex_unlock(mutex);
        rli_park(&parker, until_ms);
        pthread_mutex_lock(mutex);
        alive = rli_pipe_flush(pipe, mutex);
    }
    rli_turn_leave(&pipe->unsent, &turn);
    return alive;
}

/* --- silence --- */

int64_t rli_pipe_silent_since(const rli_pipe *pipe)
{
    return pipe->pending_list.first ? pipe->pending_list.first->since_ms : RLI_NEVER;
}

bool rli_pipe_is_idle(const rli_pipe *pipe, int64_t idle_ms)
{
    return !pipe->leading && rli_now_ms() - pipe->used_ms >= idle_ms;
}

static bool is_awaited(const rli_pipe *pipe)
{
    const rli_pending *pending = pipe->pending_list.first;
    while (pending && !pending->parker)
        pending = pending->next;
    return pending || pipe->leading;
}

bool rli_pipe_is_stale(const rli_pipe *pipe)
{
    return !is_awaited(pipe) && rli_connection_is_closed(&pipe->connection);
}

bool rli_pipe_is_stuck(rli_pipe *pipe, int64_t timeout_ms)
{
    int64_t now_ms = rli_now_ms(), since_ms = rli_pipe_silent_since(pipe);
    bool before = pipe->overdue_since_ms == since_ms;
    if (now_ms >= pipe->guarded_until_ms)
        shutdown(pipe->connection.fd, SHUT_RDWR);
    if (since_ms > now_ms - timeout_ms)
        return false;
    pipe->overdue_since_ms = since_ms;
    return before;
}

/* --- leading --- */

bool rli_pipe_take_lead(rli_pipe *pipe, rli_pending *pending)
{
    if (rli_parker_take(pending->parker, RLI_LEAD))
        return true;
    return !rli_pending_finished(pending) && rli_pipe_lead(pipe);
}

bool rli_pipe_lead(rli_pipe *pipe)
{
    if (pipe->leading || pipe->ended)
        return false;
    pipe->leading = true;
    rli_pipe_ref(pipe);
    return true;
}

bool rli_pipe_is_led(const rli_pipe *pipe)
{
    return pipe->leading;
}

uint64_t rli_pipe_last(const rli_pipe *pipe)
{
    return pipe->sent == pipe->pending_list.count ? number_of_last(pipe) : 0;
}

bool rli_pipe_is_past(const rli_pipe *pipe, uint64_t number)
{
    return pipe->ended || pipe->popped >= number;
}

void rli_pipe_pass_lead(rli_pipe *pipe, const rli_pending *own)
{
    pipe->leading = false;
    for (rli_pending *pending = pipe->pending_list.first; pending; pending = pending->next) {
        if (pending == own || !pending->parker || rli_pending_is_threadless(pending))
            continue;
        pipe->leading = true;
        rli_unpark_flags(pending->parker, RLI_LEAD);
        return;
    }
    rli_pipe_unref(pipe);
}

/* --- the end of a request, and of the pipe --- */

rli_pending *rli_pipe_pop(rli_pipe *pipe)
{
    rli_pending *pending = rli_pending_pop(&pipe->pending_list);
    pipe->posts -= pending && pending->done;
    pipe->threadless -= pending && rli_pending_is_threadless(pending);
    pipe->abandoned -= pending && !pending->parker && !pending->done;
    pipe->popped += pending != NULL;
    return pending;
}

bool rli_pipe_abandon(rli_pipe *pipe, rli_pending *pending)
{
    bool threadless = rli_pending_is_threadless(pending);
    if (!threadless && rli_pipe_take_lead(pipe, pending))
        rli_pipe_pass_lead(pipe, pending);
    if (take_back(pipe, pending)) {
        pipe->threadless -= threadless;
        return true;
    }
    pending->left = true;
    rli_pending *stand_in = rli_pending_replace(&pipe->pending_list, pending);
    if (!stand_in)
        return false;
    pipe->threadless -= threadless;
    pipe->abandoned++;
    if (pipe->awaited == pending)
        pipe->awaited = stand_in;
    rli_pipe_unref(pipe);
    return true;
}

/* Drops the reference of a request that ends with the pipe. A caller that was made the leader but has not started yet
 * will not lead any more, so its second reference goes, too. The count stays above 0, because the pipeline still holds
 * a reference. */
static void leave_for(rli_pipe *pipe, const rli_pending *pending)
{
    bool had_lead = rli_parker_take(pending->parker, RLI_LEAD);
    pipe->leading = pipe->leading && !had_lead;
    pipe->users -= 1 + had_lead;
}

void rli_pipe_end(rli_pipe *pipe, rli_outcome outcome)
{
    if (pipe->ended)
        return;
    pipe->ended = true;
    /* wakes the leader; the descriptor stays open until the last reference goes */
    shutdown(pipe->connection.fd, SHUT_RDWR);
    pipe->awaited = NULL;
    rli_wake_batch batch = {0};
    for (rli_pending *pending; (pending = rli_pipe_pop(pipe)); pipe->sent--) {
        pending->left = pipe->sent > 0;
        pending->garbled = outcome == RLI_DISCONNECTED ? pipe->garbled : NULL;
        if (pending->parker)
            leave_for(pipe, pending);
        rli_pending_finish(pending, outcome, &batch);
    }
    rli_wake_batch_end(&batch);
    rli_turn_wake_all(pipe->unsent);
    pipe->sent = pipe->answered = 0;
    rli_replica_ack_end(&pipe->ack);
}
