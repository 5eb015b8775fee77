/* Sync: how a synced wire has replicas confirm what was written on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/sync.h"

#include "base/clock.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A replica that joins its master is asked to confirm so much later at most. One that leaves is noticed by the first
 * WAIT that it does not confirm. */
#define RECOUNT_MS 1000

/* --- how many replicas there are --- */

/* Whatever a server says. */
static int as_count(long long number)
{
    return number < 0 ? 0 : number > INT_MAX ? INT_MAX : (int)number;
}

/* The servers' list of who is whose replica, of a cluster or of sentinels, has a dead one in it for as long as they
 * take to agree on that; the master itself sees its connection end. */
int rli_sync_online(const char *info)
{
    static const char count[] = "connected_slaves:", each[] = "slave", state[] = "state=online";
    int online = 0, named = 0, connected = 0;
    for (const char *line = info; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, count, sizeof count - 1) == 0)
            connected = as_count(strtoll(line + sizeof count - 1, NULL, 10));
        size_t digits = strncmp(line, each, sizeof each - 1) == 0 ? strspn(line + sizeof each - 1, "0123456789") : 0;
        if (digits == 0 || line[sizeof each - 1 + digits] != ':')
            continue;
        const char *found = strstr(line, state);
        named++;
        online += found && found < line + strcspn(line, "\n");
    }
    return named ? online : connected;
}

bool rli_sync_is_busy(const rli_sync *sync)
{
    return sync->counting || sync->asked;
}

static int listed(const rli_sync *sync)
{
    return sync->listed ? atomic_load_explicit(sync->listed, memory_order_relaxed) : 0;
}

bool rli_sync_is_to_count(const rli_sync *sync)
{
    return listed(sync) > 0 && !sync->unknown && (!sync->counted_ms || rli_now_ms() - sync->counted_ms >= RECOUNT_MS);
}

bool rli_sync_count(rli_sync *sync, rli_buffer *buffer)
{
    const rli_command info = {.count = 2, .words = (const char *const[]){"INFO", "replication"},
                              .lengths = (const size_t[]){4, 11}};
    sync->counting = rli_buffer_command(buffer, &info);
    return sync->counting;
}

void rli_sync_hear_count(rli_sync *sync, const redisReply *reply)
{
    sync->counting = false;
    sync->forbidden = false; /* rights may have been given meanwhile */
    sync->online = reply->type == REDIS_REPLY_STRING ? rli_sync_online(reply->str) : -1;
    sync->counted_ms = rli_now_ms();
}

/* --- what they confirm --- */

static bool is_refused(const rli_sync *sync)
{
    return sync->unknown || sync->forbidden;
}

/* Where the server does not count its replicas for us, those that it is said to have are asked. */
static int to_ask(const rli_sync *sync)
{
    int most = listed(sync);
    return most <= 0 || is_refused(sync) ? 0 : sync->online >= 0 ? sync->online : most;
}

bool rli_sync_ask(rli_sync *sync, rli_buffer *buffer)
{
    int replicas = to_ask(sync);
    if (replicas <= 0)
        return true;
    char number[RLI_DECIMAL], timeout[RLI_DECIMAL];
    const char *words[] = {"WAIT", number, timeout};
    size_t lengths[] = {4, rli_decimal(replicas, number), rli_decimal(sync->timeout_ms, timeout)};
    if (!rli_buffer_command(buffer, &(rli_command){.count = 3, .words = words, .lengths = lengths}))
        return false;
    sync->asked = replicas;
    return true;
}

int rli_sync_without(const rli_sync *sync)
{
    return is_refused(sync) ? RLI_SYNC_REFUSED : RLI_SYNC_NONE;
}

int rli_sync_hear(rli_sync *sync, const redisReply *reply)
{
    int asked = sync->asked;
    sync->asked = 0;
    if (reply->type == REDIS_REPLY_INTEGER) {
        if (reply->integer != asked)
            sync->counted_ms = 0;
        return as_count(reply->integer);
    }
    /* The next WAIT would be refused, too. Other errors are about this one: the server became a replica while it
     * waited (UNBLOCKED), or was one. */
    if (reply->type == REDIS_REPLY_ERROR) {
        sync->unknown = strncmp(reply->str, "ERR unknown command", 19) == 0;
        sync->forbidden = strncmp(reply->str, "NOPERM", 6) == 0;
    }
    return rli_sync_without(sync) == RLI_SYNC_REFUSED ? RLI_SYNC_REFUSED : 0;
}

void rli_sync_end(rli_sync *sync)
{
    sync->counting = false;
    sync->asked = 0;
}

int64_t rli_sync_time_ms(const rli_sync *sync)
{
    if (!sync->listed || is_refused(sync))
        return 0;
    return sync->asked ? 2 * sync->timeout_ms : sync->timeout_ms;
}
