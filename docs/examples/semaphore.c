/* docs/semaphore.md's example: at most three at once, over all processes, C and Java. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock_semaphore *exports = rlock_get_semaphore(client, "exports");
    int failed = rlock_semaphore_try_set_permits(exports, 3, NULL) != RLOCK_OK; /* unless somebody did */
    if (!failed && rlock_semaphore_try_acquire(exports, 1, 10000) == RLOCK_OK) {
        printf("one of three\n");
        failed = rlock_semaphore_release(exports, 1) != RLOCK_OK;
    } else {
        failed = 1;
    }
    if (failed)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_semaphore_free(exports);
    rlock_client_close(client);
    return failed;
}
