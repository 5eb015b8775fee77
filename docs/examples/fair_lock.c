/* docs/fair-lock.md's example: workers that are served in the order in which they came. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_fair_lock(client, "printer");
    rlock_status status = rlock_try_lock(lock, 60000, RLOCK_WATCHDOG);
    if (status == RLOCK_OK) {
        printf("my turn\n");
        status = rlock_unlock(lock);
    } else if (status == RLOCK_TIMEOUT) {
        printf("not within a minute: my place is free again\n");
    }
    if (status != RLOCK_OK)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_free(lock);
    rlock_client_close(client);
    return status != RLOCK_OK;
}
