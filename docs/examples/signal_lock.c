/* docs/signal-lock.md's example: the lock that a Python service takes with python-redis-lock's Lock(redis, "report"). */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_signal_lock(client, "report");
    RLOCK_WITH(lock) {
        printf("no Python process writes the report now\n");
    } else {
        fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
