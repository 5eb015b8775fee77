/* Replica acknowledgement: how a pipe makes replicas confirm what was written on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/replica_ack.h"

#include "base/clock.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The longest time until a replica that joins its master is included. A replica that leaves is noticed at the first
 * WAIT that it does not acknowledge. */
#define RECOUNT_MS 1000

/* --- counting the replicas --- */

/* Any number that a server sends, as an int of at least 0. */
static int as_count(long long number)
{
    return number < 0 ? 0 : number > INT_MAX ? INT_MAX : (int)number;
}

/* The master's own view is used: it sees a replica's connection end at once. The lists of a cluster or of sentinels
 * contain a dead replica until its peers have agreed that it is dead. */
int rli_replica_ack_online(const char *info)
{
    static const char count[] = "connected_slaves:", each[] = "slave", state[] = "state=online";
    int online = 0, named = 0, connected = 0;
    for (const char *line = info, *end; *line; line = end + (*end == '\n')) {
        end = strchrnul(line, '\n');
        if (strncmp(line, count, sizeof count - 1) == 0)
            connected = as_count(strtoll(line + sizeof count - 1, NULL, 10));
        size_t digits = strncmp(line, each, sizeof each - 1) == 0 ? strspn(line + sizeof each - 1, "0123456789") : 0;
        if (digits == 0 || line[sizeof each - 1 + digits] != ':')
            continue;
        named++;
        /* in this line alone: a search through the rest for each line would take hours for a long answer */
        online += memmem(line, (size_t)(end - line), state, sizeof state - 1) != NULL;
    }
    return named ? online : connected;
}

bool rli_replica_ack_is_busy(const rli_replica_ack *ack)
{
    return ack->counting || ack->asked;
}

static int listed(const rli_replica_ack *ack)
{
    return ack->listed ? atomic_load_explicit(ack->listed, memory_order_relaxed) : 0;
}

bool rli_replica_ack_is_to_count(const rli_replica_ack *ack)
{
    return listed(ack) > 0 && !ack->unknown && (!ack->counted_ms || rli_now_ms() - ack->counted_ms >= RECOUNT_MS);
}

bool rli_replica_ack_count(rli_replica_ack *ack, rli_buffer *buffer)
{
    const rli_command info = {
        .count = 2, .words = (const char *const[]){"INFO", "replication"}, .lengths = (const size_t[]){4, 11}};
    ack->counting = rli_buffer_command(buffer, &info);
    ack->asked_ms = rli_now_ms();
    return ack->counting;
}

void rli_replica_ack_hear_count(rli_replica_ack *ack, const redisReply *reply)
{
    ack->counting = false;
    ack->forbidden = false; /* permission may have been granted meanwhile */
    ack->online = reply->type == REDIS_REPLY_STRING ? rli_replica_ack_online(reply->str) : -1;
    /* The call that asked may have been cancelled, and nobody has read the answer since. */
    bool old = ack->needed_ms - ack->asked_ms >= RECOUNT_MS;
    ack->counted_ms = old ? 0 : rli_now_ms();
}

/* --- acknowledgements --- */

static bool is_refused(const rli_replica_ack *ack)
{
    return ack->unknown || ack->forbidden;
}

/* The number of replicas to ask for. If the server did not tell its count, the number that it is said to have. */
static int to_ask(const rli_replica_ack *ack)
{
    int most = listed(ack);
    return most <= 0 || is_refused(ack) ? 0 : ack->online >= 0 ? ack->online : most;
}

bool rli_replica_ack_ask(rli_replica_ack *ack, rli_buffer *buffer)
{
    int replicas = to_ask(ack);
    if (replicas <= 0)
        return true;
    char number[RLI_DECIMAL], timeout[RLI_DECIMAL];
    const char *words[] = {"WAIT", number, timeout};
    size_t lengths[] = {4, rli_decimal(replicas, number), rli_decimal(ack->timeout_ms, timeout)};
    if (!rli_buffer_command(buffer, &(rli_command){.count = 3, .words = words, .lengths = lengths}))
        return false;
    ack->asked = replicas;
    return true;
}

int rli_replica_ack_without(const rli_replica_ack *ack)
{
    return is_refused(ack) ? RLI_REPLICA_ACK_REFUSED : RLI_REPLICA_ACK_NONE;
}

int rli_replica_ack_hear(rli_replica_ack *ack, const redisReply *reply)
{
    int asked = ack->asked;
    ack->asked = 0;
    if (reply->type == REDIS_REPLY_INTEGER) {
        if (reply->integer != asked)
            ack->counted_ms = 0;
        return as_count(reply->integer);
    }
    /* With these errors the next WAIT would be refused, too. Others concern only this one: the server became a replica
     * during the WAIT (UNBLOCKED), or was one already. */
    if (reply->type == REDIS_REPLY_ERROR) {
        ack->unknown = strncmp(reply->str, "ERR unknown command", 19) == 0;
        ack->forbidden = strncmp(reply->str, "NOPERM", 6) == 0;
    }
    return rli_replica_ack_without(ack) == RLI_REPLICA_ACK_REFUSED ? RLI_REPLICA_ACK_REFUSED : 0;
}

void rli_replica_ack_end(rli_replica_ack *ack)
{
    ack->counting = false;
    ack->asked = 0;
}

int64_t rli_replica_ack_time_ms(const rli_replica_ack *ack)
{
    if (!ack->listed || is_refused(ack))
        return 0;
    return ack->asked ? 2 * ack->timeout_ms : ack->timeout_ms;
}
