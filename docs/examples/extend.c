/* docs/lock.md's example: a program that works in steps under a short lease, which it extends before each of them. If it is
 * stuck in a step, others have the lock soon. */
#include <rlock/rlock.h>
#include <stdio.h>

#define STEP_MS 5000 /* no step takes longer */

static rlock_status work(rlock *lock)
{
    rlock_status status = RLOCK_OK;
    for (int step = 1; step <= 3; step++) {
        status = rlock_extend(lock, STEP_MS);
        if (status != RLOCK_OK)
            break; /* RLOCK_LOST: another owner may work by now */
        printf("step %d, with %s\n", step, rlock_valid_for(lock) > STEP_MS / 2 ? "time enough" : "little time");
    }
    return status;
}

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_lock(client, "import");
    rlock_status status = rlock_lock_lease(lock, STEP_MS);
    if (status == RLOCK_OK) {
        status = work(lock);
        if (status != RLOCK_OK)
            fprintf(stderr, "%s\n", rlock_last_error());
        status = rlock_unlock(lock); /* after a loss, too: as often as it was locked */
    }
    if (status != RLOCK_OK)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_free(lock);
    rlock_client_close(client);
    return status != RLOCK_OK;
}
