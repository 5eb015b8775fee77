/* A link: one connection of hiredis to the server of a URL. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/link.h"

#include "tests/bench/contestants/support/trouble.h"

#include <stdio.h>
#include <string.h>

static redisContext *dial(const char *url)
{
    char host[256];
    int port;
    if (strncmp(url, "unix://", 7) == 0)
        return redisConnectUnix(url + 7);
    if (sscanf(url, "redis://%255[^:/]:%d", host, &port) == 2)
        return redisConnect(host, port);
    trouble("not an URL that this contestant knows: %s", url);
    return NULL;
}

redisContext *link_open(const char *url, const char *name)
{
    redisContext *context = dial(url);
    redisReply *reply = context && !context->err ? redisCommand(context, "CLIENT SETNAME %s", name) : NULL;
    if (reply && reply->type == REDIS_REPLY_STATUS) {
        freeReplyObject(reply);
        return context;
    }
    trouble("%s: %s", url, reply ? reply->str : context ? context->errstr : "no connection");
    freeReplyObject(reply);
    if (context)
        redisFree(context);
    return NULL;
}
