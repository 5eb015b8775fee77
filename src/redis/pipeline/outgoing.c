/* Outgoing: the bytes of a pipe's requests, which gather while an earlier batch of them is sent. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/outgoing.h"

/* A server that is not a cluster answers ASKING with an error; that reply is dropped in any case. */
static const rli_command asking = {
    .count = 1, .words = (const char *const[]){"ASKING"}, .lengths = (const size_t[]){6}};

void rli_outgoing_free(rli_outgoing *outgoing)
{
    rli_buffer_free(&outgoing->queued);
    rli_buffer_free(&outgoing->batch);
}

size_t rli_outgoing_add(rli_outgoing *outgoing, const rli_command *command)
{
    size_t before = outgoing->queued.length;
    if ((command->asking && !rli_buffer_command(&outgoing->queued, &asking)) ||
        !rli_buffer_command(&outgoing->queued, command)) {
        outgoing->queued.length = before;
        return 0;
    }
    outgoing->to_sync |= !command->unsynced;
    return outgoing->queued.length - before;
}

void rli_outgoing_withdraw(rli_outgoing *outgoing, size_t bytes, size_t behind)
{
    rli_buffer_cut(&outgoing->queued, outgoing->queued.length - behind - bytes, bytes);
}

bool rli_outgoing_has_rest(const rli_outgoing *outgoing)
{
    return outgoing->passed < outgoing->batch.length;
}

bool rli_outgoing_has_unsent(const rli_outgoing *outgoing)
{
    return !outgoing->sending && (rli_outgoing_has_rest(outgoing) || outgoing->queued.length);
}

/* Begins a batch without requests, which asks how many replicas the next WAIT is for. False: out of memory. */
static bool begin_count(rli_outgoing *outgoing, rli_replica_ack *ack)
{
    outgoing->batch.length = outgoing->passed = 0;
    return rli_replica_ack_count(ack, &outgoing->batch);
}

bool rli_outgoing_begin(rli_outgoing *outgoing, rli_replica_ack *ack, bool *began)
{
    *began = false;
    if (rli_outgoing_has_rest(outgoing) || !outgoing->queued.length || (ack && rli_replica_ack_is_busy(ack)))
        return true;
    bool syncs = ack && outgoing->to_sync;
    if (syncs && rli_replica_ack_is_to_count(ack))
        return begin_count(outgoing, ack);
    if (syncs && !rli_replica_ack_ask(ack, &outgoing->queued))
        return false;
    rli_buffer gone = outgoing->batch;
    outgoing->batch = outgoing->queued;
    outgoing->queued = gone;
    outgoing->queued.length = 0;
    outgoing->passed = 0;
    outgoing->to_sync = false;
    *began = true;
    return true;
}

rli_sent rli_outgoing_send(rli_outgoing *outgoing, rli_connection *connection, pthread_mutex_t *mutex)
{
    const char *rest = outgoing->batch.bytes + outgoing->passed;
    size_t length = outgoing->batch.length - outgoing->passed;
    outgoing->sending = true;
    pthread_mutex_unlock(mutex);
    ssize_t n = rli_connection_send(connection, rest, length);
    pthread_mutex_lock(mutex);
    outgoing->sending = false;
    if (n < 0)
        return RLI_SENT_FAILED;
    outgoing->passed += (size_t)n;
    return (size_t)n == length ? RLI_SENT_ALL : RLI_SENT_PART;
}
