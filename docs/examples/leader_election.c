/* docs/examples.md, leader election: of all instances of a service, one leads. Another takes over when the leader ends,
 * at the latest lockWatchdogTimeout (30 s) after it has died.
 *
 *     leader_election NAME [STEPS [URL]] */
#define _DEFAULT_SOURCE /* for usleep, also with -std=c11 */
#include <rlock/rlock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_bool leading;

/* The library calls this on one of its threads when the lock is lost: the server lost it, or the link was down too long. */
static void lost(const rlock_lost_event *event, void *name)
{
    atomic_store(&leading, false);
    printf("%s lost the lock %s\n", (const char *)name, event->name);
}

int main(int argc, char **argv)
{
    char *name = argc > 1 ? argv[1] : "instance";
    int steps = argc > 2 ? atoi(argv[2]) : 5;
    rlock_client *client;
    if (rlock_client_open(&client, argc > 3 ? argv[3] : "redis://127.0.0.1:6379") != RLOCK_OK ||
        rlock_on_lost(client, lost, name) != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *lock = rlock_get_lock(client, "billing:leader");

    while (steps > 0) {
        if (rlock_lock(lock) != RLOCK_OK) { /* waits, as a standby, for as long as another instance leads */
            fprintf(stderr, "%s\n", rlock_last_error());
            sleep(1);
            continue;
        }
        atomic_store(&leading, true);
        printf("%s leads\n", name);
        /* Before each step that must not happen twice, the leader asks how long it may rely on the lock. That costs no
         * request. */
        while (atomic_load(&leading) && steps > 0 && rlock_valid_for(lock) > 1000) {
            printf("%s: step %d\n", name, steps--);
            usleep(100000);
        }
        if (rlock_unlock(lock) != RLOCK_OK)
            fprintf(stderr, "%s\n", rlock_last_error());
    }
    rlock_free(lock);
    rlock_client_close(client);
    return 0;
}
