/* docs/permit-expirable-semaphore.md's example: a permit that is renewed for as long as this process lives, however long the
 * work takes, and that comes back when it dies. */
#include <rlock/rlock.h>
#include <stdio.h>

static void lost(const rlock_lost_event *event, void *arg)
{
    (void)arg;
    if (event->permit && *event->permit)
        fprintf(stderr, "permit %s of \"%s\" was lost\n", event->permit, event->name);
}

static int work(rlock_permit_semaphore *licences, const char *id)
{
    for (int step = 1; step <= 3; step++) {
        if (rlock_permit_semaphore_valid_for(licences, id) < 1000) /* no step takes longer */
            return 1;
        printf("step %d\n", step);
    }
    return 0;
}

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK ||
        rlock_on_lost(client, lost, NULL) != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock_permit_semaphore *licences = rlock_get_permit_expirable_semaphore(client, "licences");
    rlock_permit permit;
    int failed = rlock_permit_semaphore_try_set_permits(licences, 3, NULL) != RLOCK_OK ||
                 rlock_permit_semaphore_try_acquire(licences, 10000, RLOCK_PERMIT_WATCHDOG, &permit) != RLOCK_OK;
    if (!failed) {
        failed = work(licences, permit.id);
        failed |= rlock_permit_semaphore_release(licences, permit.id) != RLOCK_OK; /* which ends the renewal */
    }
    if (failed)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_permit_semaphore_free(licences);
    rlock_client_close(client);
    return failed;
}
