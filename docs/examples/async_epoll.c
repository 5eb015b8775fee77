/* docs/async.md's example: a lock in a program whose loop is epoll's. */
#include <rlock/rlock.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { JOB = 42 }; /* the owner: any number that tells this job from the program's others */

static rlock *lock;
static int done;

static void released(const rlock_result *result, void *arg)
{
    (void)arg;
    printf("%s\n", result->status == RLOCK_OK ? "released" : result->error);
    done = 1;
}

static void acquired(const rlock_result *result, void *arg)
{
    (void)arg;
    if (result->status != RLOCK_OK) {
        fprintf(stderr, "%s\n", result->error);
        done = 1;
        return;
    }
    printf("acquired\n"); /* held, and renewed, until it is released: from any later event of the loop */
    if (rlock_unlock_async(lock, NULL, released, NULL) != RLOCK_OK) {
        fprintf(stderr, "%s\n", rlock_last_error());
        done = 1;
    }
}

int main(int argc, char **argv)
{
    rlock_client *client;
    if (rlock_client_open(&client, argc > 1 ? argv[1] : "redis://127.0.0.1:6379") != RLOCK_OK)
        return fprintf(stderr, "%s\n", rlock_last_error()), 1;
    rlock *any = rlock_get_lock(client, "report");
    lock = rlock_for_owner(any, JOB);
    rlock_free(any);

    int loop = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(loop, EPOLL_CTL_ADD, rlock_client_fd(client), &event) != 0)
        return perror("epoll_ctl"), 1;
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = 10000;
    rlock_status status = rlock_lock_async(lock, &options, acquired, NULL);
    while (status == RLOCK_OK && !done) {
        epoll_wait(loop, &event, 1, -1);
        status = rlock_client_process(client);
    }
    if (status != RLOCK_OK)
        fprintf(stderr, "%s\n", rlock_last_error());
    close(loop);
    rlock_free(lock);
    rlock_client_close(client);
    return status != RLOCK_OK;
}
