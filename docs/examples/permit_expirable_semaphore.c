/* docs/permit-expirable-semaphore.md's example: a permit that comes back when its holder dies. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock_permit_semaphore *licences = rlock_get_permit_expirable_semaphore(client, "licences");
    rlock_permit permit;
    int failed = rlock_permit_semaphore_try_set_permits(licences, 3, NULL) != RLOCK_OK ||
                 rlock_permit_semaphore_try_acquire(licences, 10000, 60000, &permit) != RLOCK_OK;
    if (!failed) {
        printf("permit %s, for a minute\n", permit.id); /* any process that knows the id may release it */
        failed = rlock_permit_semaphore_release(licences, permit.id) != RLOCK_OK;
    }
    if (failed)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_permit_semaphore_free(licences);
    rlock_client_close(client);
    return failed;
}
