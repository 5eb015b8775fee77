/* Replies: the one place that reads what the server answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/reply.h"

#include "error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool rli_reply_is_passing(const redisReply *reply)
{
    static const char *const passing[] = {"LOADING", "BUSY ", "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN"};
    for (size_t i = 0; reply->type == REDIS_REPLY_ERROR && i < sizeof passing / sizeof *passing; i++) {
        if (starts(reply->str, passing[i]))
            return true;
    }
    return false;
}

bool rli_reply_is_noscript(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ERROR && starts(reply->str, "NOSCRIPT");
}

rlock_status rli_reply_refusal(const redisReply *reply, const char *key)
{
    static const struct {
        const char *found, *advice;
    } advices[] = {
        {"WRONGTYPE", "the name is in use for another kind of value: choose another, or delete that key"},
        {"NOPERM", "give the ACL user the right to the key, its channel and the scripts"},
        {"NOAUTH", "put the password into the URL: redis://user:password@host"},
        {"READONLY", "the server is a replica; connect to the master"},
        {"OOM", "the server is at its maxmemory"},
        {"MISCONF", "the server cannot save to its disk and refuses writes"},
    };
    const char *advice = NULL;
    for (size_t i = 0; !advice && i < sizeof advices / sizeof *advices; i++) {
        if (strstr(reply->str, advices[i].found)) /* scripts put words before the code */
            advice = advices[i].advice;
    }
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_SERVER, "Redis refused, for \"%s\": %.200s%s%s", rli_show_name(key, shown),
                    reply->str, advice ? "; " : "", advice ? advice : "");
}

bool rli_reply_is_nil(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_NIL;
}

bool rli_reply_integer(const redisReply *reply, int64_t *value)
{
    if (reply->type == REDIS_REPLY_INTEGER) {
        *value = reply->integer;
        return true;
    }
    if (reply->type != REDIS_REPLY_STRING)
        return false;
    char *end;
    errno = 0;
    *value = strtoll(reply->str, &end, 10);
    return end != reply->str && !*end && !errno;
}

rlock_status rli_reply_unexpected(const redisReply *reply, const char *key)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_SERVER, "an answer of type %d for \"%s\" that was not expected; is there a "
                    "proxy between, or another kind of value under this name?",
                    reply->type, rli_show_name(key, shown));
}
