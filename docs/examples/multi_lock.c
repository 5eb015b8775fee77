/* The multi lock's page: moves something between two accounts that are locked together. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    rlock_client *client;
    if (rlock_client_open(&client, "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *accounts[] = {rlock_get_lock(client, "account:1"), rlock_get_lock(client, "account:2")};
    rlock *both = rlock_get_multi_lock(accounts, 2);
    rlock_free(accounts[0]); /* the multi lock has handles of its own */
    rlock_free(accounts[1]);
    if (rlock_try_lock(both, 5000, RLOCK_WATCHDOG) == RLOCK_OK) {
        printf("both mine for %lld ms, and renewed until I unlock\n", (long long)rlock_valid_for(both));
        rlock_unlock(both);
    } else {
        fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(both);
    rlock_client_close(client);
    return 0;
}
