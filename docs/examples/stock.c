/* docs/examples.md, stock with fencing: each order takes one piece from a stock in Redis. The lock makes reading and
 * writing one step. The fencing token protects the stock from a process that was paused beyond its lease: Redis refuses
 * its write, because a newer token has written since.
 *
 *     stock ORDERS [URL]          needs hiredis, for reading the stock: cc stock.c $(pkg-config --cflags --libs rlock hiredis) */
#include <hiredis/hiredis.h>
#include <rlock/rlock.h>
#include <stdio.h>
#include <stdlib.h>

/* -1: the stock could not be read. */
static long stock_of(redisContext *redis)
{
    redisReply *reply = redisCommand(redis, "GET stock:42");
    long stock = !reply ? -1 : reply->type == REDIS_REPLY_STRING ? atol(reply->str) : 0;
    freeReplyObject(reply);
    return stock;
}

/* Takes one piece. RLOCK_LOST: nothing was taken, because this process was too late. */
static rlock_status take_one(rlock_client *client, redisContext *redis, rlock *lock, long *left)
{
    uint64_t token;
    rlock_status status = rlock_lock_and_get_token(lock, &token);
    if (status != RLOCK_OK)
        return status;
    *left = stock_of(redis);
    if (*left > 0) {
        char text[24];
        int length = snprintf(text, sizeof text, "%ld", --*left);
        status = rlock_fenced_set(client, "stock:42", text, (size_t)length, token);
    } else {
        *left = -1; /* sold out */
    }
    rlock_status released = rlock_unlock(lock);
    return status != RLOCK_OK ? status : released;
}

int main(int argc, char **argv)
{
    const char *url = argc > 2 ? argv[2] : "redis://127.0.0.1:6379";
    char host[64] = "";
    int port = 6379, sold = 0;
    rlock_client *client;
    if (argc < 2 || sscanf(url, "redis://%63[^:/]:%d", host, &port) < 1)
        return fprintf(stderr, "usage: stock ORDERS [redis://HOST:PORT]\n"), 2;
    if (rlock_client_open(&client, url) != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    redisContext *redis = redisConnect(host, port);
    if (!redis || redis->err)
        return fprintf(stderr, "could not connect to %s: %s\n", url, redis ? redis->errstr : "out of memory"), 1;
    rlock *lock = rlock_get_fenced_lock(client, "lock:stock:42");
    for (int order = 0; order < atoi(argv[1]); order++) {
        long left;
        if (take_one(client, redis, lock, &left) != RLOCK_OK)
            fprintf(stderr, "order refused: %s\n", rlock_last_error());
        else if (left >= 0)
            sold++;
    }
    printf("sold %d\n", sold);
    rlock_free(lock);
    redisFree(redis);
    rlock_client_close(client);
    return 0;
}
