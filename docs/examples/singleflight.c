/* docs/singleflight.md's example: eight threads want one page. One of them loads it; and of several such processes, one. The
 * value is kept in Redis for a minute, by hiredis, which any client of Redis can read. */
#define _DEFAULT_SOURCE /* for strdup, also with -std=c11 */
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <rlock/rlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rlock_client *client;
static rlock_singleflight *flights;

/* The slow part. */
static char *render(const char *key)
{
    char *page = malloc(64);
    if (page)
        snprintf(page, 64, "%s, rendered by process %ld", key, (long)getpid());
    return page;
}

/* Returns the page that Redis keeps; NULL: none. */
static char *kept(redisContext *redis, const char *key)
{
    redisReply *reply = redisCommand(redis, "GET page:%s", key);
    char *page = reply && reply->type == REDIS_REPLY_STRING ? strdup(reply->str) : NULL;
    freeReplyObject(reply);
    return page;
}

static char *render_and_keep(redisContext *redis, const char *key)
{
    char *page = render(key);
    if (page)
        freeReplyObject(redisCommand(redis, "SET page:%s %s PX 60000", key, page));
    return page;
}

/* One thread of this process is in here for a key; the lock lets one process at a time look whether it is kept now. */
static rlock_status load(const char *key, void *arg, void **bytes, size_t *length)
{
    redisContext *redis = redisConnect("127.0.0.1", 6379);
    rlock *lock = rlock_get_lock(client, key);
    char *page = redis && !redis->err ? kept(redis, key) : NULL;
    rlock_status status = RLOCK_OK;
    (void)arg;
    if (!page && (status = rlock_try_lock(lock, 10000, RLOCK_WATCHDOG)) == RLOCK_OK) {
        page = redis && !redis->err ? kept(redis, key) : NULL; /* another process was faster */
        if (!page)
            page = redis && !redis->err ? render_and_keep(redis, key) : render(key);
        if (rlock_unlock(lock) != RLOCK_OK)
            fprintf(stderr, "%s\n", rlock_last_error()); /* another may have rendered it, too: no harm */
    }
    rlock_free(lock);
    redisFree(redis);
    *bytes = page;
    *length = page ? strlen(page) + 1 : 0;
    return page || status != RLOCK_OK ? status : RLOCK_NO_MEMORY;
}

static void *want(void *arg)
{
    rlock_loaded *loaded;
    (void)arg;
    if (rlock_singleflight_do(flights, "home", NULL, load, NULL, &loaded) == RLOCK_OK)
        printf("%s\n", (const char *)rlock_loaded_bytes(loaded, NULL));
    else
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_loaded_free(loaded);
    return NULL;
}

int main(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK || !(flights = rlock_singleflight_new()))
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    int started = 0;
    while (started < THREADS && pthread_create(&threads[started], NULL, want, NULL) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    rlock_singleflight_free(flights);
    rlock_client_close(client);
    return 0;
}
