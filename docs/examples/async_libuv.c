/* docs/async.md's example: a lock in a program whose loop is libuv's. */
#define _DEFAULT_SOURCE /* for libuv's header, also with -std=c11 */
#include <rlock/rlock.h>
#include <stdio.h>
#include <uv.h>

enum { JOB = 42 }; /* the owner: any number that tells this job from the program's others */

static rlock *lock;
static uv_poll_t watcher;

static void process(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events;
    if (rlock_client_process(handle->data) != RLOCK_OK) {
        fprintf(stderr, "%s\n", rlock_last_error());
        uv_poll_stop(handle);
    }
}

static void released(const rlock_result *result, void *arg)
{
    (void)arg;
    printf("%s\n", result->status == RLOCK_OK ? "released" : result->error);
    uv_poll_stop(&watcher); /* nothing more to do: the loop ends */
}

static void acquired(const rlock_result *result, void *arg)
{
    (void)arg;
    if (result->status != RLOCK_OK) {
        printf("%s\n", result->error);
        uv_poll_stop(&watcher);
        return;
    }
    printf("acquired\n"); /* held, and renewed, until it is released: from any later event of the loop */
    if (rlock_unlock_async(lock, NULL, released, NULL) != RLOCK_OK)
        uv_poll_stop(&watcher); /* nothing more to do: the loop ends */
}

int main(int argc, char **argv)
{
    rlock_client *client;
    if (rlock_client_open(&client, argc > 1 ? argv[1] : "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *any = rlock_get_lock(client, "report");
    lock = rlock_for_owner(any, JOB);
    rlock_free(any);

    uv_loop_t *loop = uv_default_loop();
    watcher.data = client;
    if (uv_poll_init(loop, &watcher, rlock_client_fd(client)) || uv_poll_start(&watcher, UV_READABLE, process))
        return fprintf(stderr, "libuv cannot watch the client\n"), 1;
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = 10000;
    rlock_status status = rlock_lock_async(lock, &options, acquired, NULL);
    if (status == RLOCK_OK)
        uv_run(loop, UV_RUN_DEFAULT);
    else
        fprintf(stderr, "%s\n", rlock_last_error());
    uv_close((uv_handle_t *)&watcher, NULL); /* before the client closes its descriptor */
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    rlock_free(lock);
    rlock_client_close(client);
    return status != RLOCK_OK;
}
