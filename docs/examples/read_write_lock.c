/* docs/read-write-lock.md's example: writes a price list, then reads it along with all others. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock_read_write_lock *prices = rlock_get_read_write_lock(client, "prices");
    rlock *read = rlock_read_lock(prices), *write = rlock_write_lock(prices);
    int failed = rlock_lock(write) != RLOCK_OK;
    if (!failed) {
        printf("writing: nobody else reads or writes\n");
        failed = rlock_lock(read) != RLOCK_OK; /* the writer may */
        failed |= rlock_unlock(write) != RLOCK_OK;
    }
    if (!failed) {
        printf("reading what was written: others read, nobody has written since\n");
        failed = rlock_unlock(read) != RLOCK_OK;
    }
    if (failed)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_free(read);
    rlock_free(write);
    rlock_read_write_lock_free(prices);
    rlock_client_close(client);
    return failed;
}
