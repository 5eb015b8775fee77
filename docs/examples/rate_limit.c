/* docs/examples.md, rate limiting: all processes together call a service at most three times a second. A permit has a
 * lease of one second and is never released, so it is available again one second after it was taken. To limit calls that
 * run at the same time instead, take a permit, call, and release it.
 *
 *     rate_limit CALLS [URL] */
#include <rlock/rlock.h>
#include <stdio.h>
#include <stdlib.h>

enum { PERMITS = 3, PER_MS = 1000 };

static void call_service(int number)
{
    printf("call %d\n", number);
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 9, made = 0;
    rlock_client *client;
    if (rlock_client_open(&client, argc > 2 ? argv[2] : "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock_permit_semaphore *rate = rlock_get_permit_expirable_semaphore(client, "rate:geocoder");
    rlock_permit permit;
    int failed = rlock_permit_semaphore_try_set_permits(rate, PERMITS, NULL) != RLOCK_OK;
    while (!failed && made < calls) {
        failed = rlock_permit_semaphore_acquire(rate, PER_MS, &permit) != RLOCK_OK; /* waits for its turn */
        if (!failed)
            call_service(++made);
    }
    if (failed)
        fprintf(stderr, "%s\n", rlock_last_error());
    rlock_permit_semaphore_free(rate);
    rlock_client_close(client);
    return failed;
}
