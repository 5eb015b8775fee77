/* Pipe: receives replies and gives each to its request. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/pipe_parts.h"

#include "base/clock.h"

#define AT_ONCE 64

/* Takes all complete replies, up to AT_ONCE. *garbled: the bytes after them are not a valid reply. */
static int parse(rli_pipe *pipe, redisReply *replies[AT_ONCE], bool *garbled)
{
    int count = 0;
    while (count < AT_ONCE) {
        redisReply *reply = NULL;
        *garbled = !rli_connection_parse(&pipe->connection, &reply);
        if (*garbled || !reply)
            break;
        replies[count++] = reply;
    }
    return count;
}

/* Removes the answered requests from the list and appends them to *done. */
static void release(rli_pipe *pipe, int asked, int synced, rli_pending ***done)
{
    for (; pipe->answered > 0; pipe->answered--) {
        rli_pending *pending = rli_pipe_pop(pipe);
        pipe->sent--;
        if (pending->parker)
            rli_pipe_unref(pipe);
        pending->left = true;
        pending->asked = asked;
        pending->synced = synced;
        **done = pending;
        *done = &pending->next;
    }
}

/* Gives the reply to the oldest request without one, or uses it as the answer to WAIT or to the count of replicas.
 * Requests that this completes are appended to *done. False: the reply belongs to nothing. */
static bool accept_reply(rli_pipe *pipe, redisReply *reply, rli_pending ***done)
{
    rli_pending *pending = pipe->answered < pipe->sent ? pipe->awaited : NULL;
    int asked = pipe->ack.asked;
    if (pending && pending->asking) {
        pending->asking = false;
        freeReplyObject(reply);
    } else if (pending) {
        pending->reply = reply;
        pipe->awaited = pending->next;
        pipe->answered++;
        if (!asked)
            release(pipe, 0, rli_replica_ack_without(&pipe->ack), done);
    } else if (asked) {
        release(pipe, asked, rli_replica_ack_hear(&pipe->ack, reply), done);
        freeReplyObject(reply);
    } else if (pipe->ack.counting) {
        rli_replica_ack_hear_count(&pipe->ack, reply);
        freeReplyObject(reply);
    } else {
        return false;
    }
    return true;
}

/* Finishes the requests of operations without a thread, and returns the others. The pipeline's mutex is held: as soon
 * as such an operation has been told, another thread may go on with it, and end it, and its function close the client
 * whose ready list it was on. But first that thread takes the mutex, to get the reply. */
static rli_pending *finish_threadless(rli_pending *done, rli_wake_batch *batch)
{
    rli_pending *others = NULL, **end = &others;
    for (rli_pending *pending; (pending = done);) {
        done = pending->next;
        if (rli_pending_is_threadless(pending)) {
            rli_pending_finish(pending, RLI_ANSWERED, batch);
        } else {
            *end = pending;
            end = &pending->next;
        }
    }
    *end = NULL;
    return others;
}

/* Matches replies with their requests and wakes the callers together. The mutex is released while they are woken, as
 * they would run into it with their next requests; it is held on entry and return. False: a reply belonged to
 * nothing. */
static bool hand_over(rli_pipe *pipe, pthread_mutex_t *mutex, redisReply *replies[AT_ONCE], int count)
{
    rli_pending *done = NULL, **end = &done;
    rli_wake_batch batch = {0};
    int paired = 0, threadless = pipe->threadless;
    while (paired < count && accept_reply(pipe, replies[paired], &end))
        paired++;
    if (pipe->threadless < threadless)
        done = finish_threadless(done, &batch);
    pthread_mutex_unlock(mutex);
    while (done) {
        rli_pending *pending = done;
        done = pending->next;
        rli_pending_finish(pending, RLI_ANSWERED, &batch);
    }
    rli_wake_batch_end(&batch);
    pthread_mutex_lock(mutex);
    for (int i = paired; i < count; i++)
        freeReplyObject(replies[i]);
    return paired == count;
}

/* The receive-timeout thread is a little late, which does not matter for a receive with the whole timeout left. Use
 * poll instead if less time is left (a follower that became the leader, or a short wait), or if a cancel token or room
 * to send must be noticed, too. */
static bool is_for_receive_timeout(const rli_pipe *pipe, int64_t left_ms, int wake_fd, bool room_wanted)
{
    return pipe->receive_timeout && wake_fd < 0 && !room_wanted && left_ms >= pipe->guarded_from_ms;
}

/* Whether the leader awaits one answer, its own or another's, and nothing else; and has time to. Not where replicas
 * must acknowledge, nor in the background. */
static bool is_alone(const rli_pipe *pipe, int64_t left_ms, bool room_wanted)
{
    return pipe->receive_timeout && pipe->pending_list.count == 1 && !room_wanted && left_ms > 0;
}

static rli_received wait_for_bytes(rli_pipe *pipe, pthread_mutex_t *mutex, int64_t deadline_ms, int wake_fd)
{
    bool room_wanted = rli_outgoing_has_rest(&pipe->outgoing) && !pipe->outgoing.sending;
    int64_t left_ms = deadline_ms - rli_now_ms();
    bool is_covered = is_for_receive_timeout(pipe, left_ms, wake_fd, room_wanted);
    bool alone = is_alone(pipe, left_ms, room_wanted);
    pipe->guarded_until_ms = is_covered ? deadline_ms : RLI_NEVER;
    pthread_mutex_unlock(mutex);
    if (is_covered && rli_receive_timeout_call(pipe->receive_timeout))
        deadline_ms = RLI_NEVER;
    return alone ? rli_busy_wait_receive(&pipe->busy_wait, &pipe->connection, deadline_ms, wake_fd)
                 : rli_connection_receive(&pipe->connection, deadline_ms, wake_fd, room_wanted);
}

rli_received rli_pipe_receive(rli_pipe *pipe, pthread_mutex_t *mutex, int64_t deadline_ms, int wake_fd)
{
    if (pipe->ended)
        return RLI_RECEIVED_END;
    rli_received received = wait_for_bytes(pipe, mutex, deadline_ms, wake_fd);
    redisReply *replies[AT_ONCE];
    bool garbled = false;
    int count = received == RLI_RECEIVED_BYTES ? parse(pipe, replies, &garbled) : 0;
    pthread_mutex_lock(mutex);
    pipe->guarded_until_ms = RLI_NEVER;
    /* Send first, so that the server has work: the threads woken below may take the processor. */
    bool alive = received != RLI_RECEIVED_BYTES || rli_pipe_flush(pipe, mutex);
    while (received == RLI_RECEIVED_BYTES && (count > 0 || garbled)) {
        if (!hand_over(pipe, mutex, replies, count))
            pipe->garbled = "a reply to no request";
        else if (garbled)
            pipe->garbled = rli_connection_trouble(&pipe->connection);
        else
            count = count == AT_ONCE ? parse(pipe, replies, &garbled) : 0;
        if (pipe->garbled)
            received = RLI_RECEIVED_END;
    }
    if (!alive)
        received = RLI_RECEIVED_END;
    return received;
}
