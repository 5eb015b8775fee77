/* docs/fenced-lock.md's example: what the lock protects refuses whoever comes with an older token. */
#include <inttypes.h>
#include <rlock/rlock.h>
#include <stdio.h>

/* Stands for the storage: it remembers the greatest token that it has seen. */
static int store(uint64_t token, const char *what)
{
    static uint64_t greatest;
    if (token < greatest)
        return fprintf(stderr, "token %" PRIu64 " is older than %" PRIu64 "\n", token, greatest), -1;
    greatest = token;
    return printf("%s, with token %" PRIu64 "\n", what, token);
}

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_fenced_lock(client, "report");
    uint64_t token;
    int failed = rlock_try_lock_and_get_token(lock, 5000, RLOCK_WATCHDOG, &token) != RLOCK_OK;
    if (!failed) {
        failed = store(token, "stored") < 0;
        failed |= rlock_unlock(lock) != RLOCK_OK;
    }
    if (failed)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_free(lock);
    rlock_client_close(client);
    return failed;
}
