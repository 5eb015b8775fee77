/* docs/spin-lock.md's example: a lock whose waiters ask every 20 ms, and nobody publishes anything. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(20);
    rlock *lock = rlock_get_spin_lock_with(client, "index", &back_off);
    RLOCK_WITH(lock) {
        printf("rebuilding the index\n");
    } else {
        fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
