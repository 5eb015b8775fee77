/* docs/sharded-lock.md's example: a stock in eight parts, of which each buyer locks any one. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    int shard;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_sharded_lock(client, "stock:42", 8);
    RLOCK_WITH(lock) {
        if (rlock_get_shard(lock, &shard) == RLOCK_OK)
            printf("selling from the eighth with the number %d\n", shard);
    } else {
        fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
