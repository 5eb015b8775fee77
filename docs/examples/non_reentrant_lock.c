/* docs/non-reentrant-lock.md's example: a callback that comes back while its work is under way. */
#include <rlock/rlock.h>
#include <stdio.h>

static void on_change(rlock *lock, int depth)
{
    rlock_status status = rlock_try_lock(lock, 1000, RLOCK_WATCHDOG);
    if (status == RLOCK_ALREADY_HELD) {
        printf("called from within: left for later\n");
    } else if (status != RLOCK_OK) {
        fprintf(stderr, "%s\n", rlock_last_error());
    } else {
        printf("working\n");
        if (depth < 1)
            on_change(lock, depth + 1);
        if (rlock_unlock(lock) != RLOCK_OK)
            fprintf(stderr, "%s\n", rlock_last_error());
    }
}

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_non_reentrant_lock(client, "basket:7");
    on_change(lock, 0);
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
