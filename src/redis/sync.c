/* Sync: how a synced wire has replicas confirm what was written on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/sync.h"

#include <string.h>

bool rli_sync_ask(rli_sync *sync, rli_buffer *buffer)
{
    int replicas = sync->replicas && !sync->refused ? atomic_load_explicit(sync->replicas, memory_order_relaxed) : 0;
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
    return sync->refused ? RLI_SYNC_REFUSED : RLI_SYNC_NONE;
}

/* It will refuse the next one, too. Other errors are about this one: the server became a replica
 * while it waited (UNBLOCKED), or was one. */
static bool refuses(const redisReply *reply)
{
    return strncmp(reply->str, "ERR unknown command", 19) == 0 || strncmp(reply->str, "NOPERM", 6) == 0;
}

int rli_sync_hear(rli_sync *sync, const redisReply *reply)
{
    sync->asked = 0;
    if (reply->type == REDIS_REPLY_INTEGER)
        return (int)reply->integer;
    if (reply->type == REDIS_REPLY_ERROR)
        sync->refused = refuses(reply);
    return sync->refused ? RLI_SYNC_REFUSED : 0;
}

int64_t rli_sync_time_ms(const rli_sync *sync)
{
    if (!sync->replicas || sync->refused)
        return 0;
    return sync->asked ? 2 * sync->timeout_ms : sync->timeout_ms;
}
