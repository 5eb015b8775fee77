/* The README's example: takes the lock that a Java program may hold, and gives it back. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_lock(client, "order:42");
    RLOCK_WITH(lock) {
        printf("mine for %lld ms, and renewed until the block ends\n",
               (long long)rlock_valid_for(lock));
    } else {
        fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
