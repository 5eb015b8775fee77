/* docs/async.md's example: a lock in a program whose loop is libevent's. */
#include <event2/event.h>
#include <rlock/rlock.h>
#include <stdio.h>

enum { JOB = 42 }; /* the owner: any number that tells this job from the program's others */

static rlock *lock;
static struct event_base *loop;

static void process(evutil_socket_t fd, short events, void *client)
{
    (void)fd, (void)events;
    if (rlock_client_process(client) != RLOCK_OK) {
        fprintf(stderr, "%s\n", rlock_last_error());
        event_base_loopbreak(loop);
    }
}

static void released(const rlock_result *result, void *arg)
{
    (void)arg;
    printf("%s\n", result->status == RLOCK_OK ? "released" : result->error);
    event_base_loopbreak(loop);
}

static void acquired(const rlock_result *result, void *arg)
{
    (void)arg;
    if (result->status != RLOCK_OK) {
        printf("%s\n", result->error);
        event_base_loopbreak(loop);
        return;
    }
    printf("acquired\n"); /* held, and renewed, until it is released: from any later event of the loop */
    if (rlock_unlock_async(lock, NULL, released, NULL) != RLOCK_OK)
        event_base_loopbreak(loop);
}

int main(int argc, char **argv)
{
    rlock_client *client;
    if (rlock_client_open(&client, argc > 1 ? argv[1] : "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *any = rlock_get_lock(client, "report");
    lock = rlock_for_owner(any, JOB);
    rlock_free(any);

    loop = event_base_new();
    struct event *watcher = event_new(loop, rlock_client_fd(client), EV_READ | EV_PERSIST, process, client);
    if (!watcher || event_add(watcher, NULL) != 0)
        return fprintf(stderr, "libevent cannot watch the client\n"), 1;
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = 10000;
    rlock_status status = rlock_lock_async(lock, &options, acquired, NULL);
    if (status == RLOCK_OK)
        event_base_dispatch(loop);
    else
        fprintf(stderr, "%s\n", rlock_last_error());
    event_free(watcher); /* before the client closes its descriptor */
    event_base_free(loop);
    rlock_free(lock);
    rlock_client_close(client);
    return status != RLOCK_OK;
}
