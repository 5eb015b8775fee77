/* The red lock's page: a lock that one of its three servers may fail. */
#include <rlock/rlock.h>
#include <stdio.h>

int main(void)
{
    static const char *const urls[] = {"redis://127.0.0.1:6379", "redis://127.0.0.1:6380", "redis://127.0.0.1:6381"};
    rlock_client *clients[3];
    rlock *votes[3];
    for (int i = 0; i < 3; i++) {
        if (rlock_client_open(&clients[i], urls[i]) != RLOCK_OK)
            return fprintf(stderr, "%s\n", rlock_last_error()), 1;
        votes[i] = rlock_get_lock(clients[i], "report");
    }
    rlock *report = rlock_get_red_lock(votes, 3);
    if (rlock_try_lock(report, 3000, 30000) == RLOCK_OK) {
        printf("mine for %lld ms, whichever server fails\n", (long long)rlock_valid_for(report));
        rlock_unlock(report);
    } else {
        fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(report);
    for (int i = 0; i < 3; i++) {
        rlock_free(votes[i]);
        rlock_client_close(clients[i]);
    }
    return 0;
}
