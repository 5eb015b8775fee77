/* One process of the demo: threads that take turns under one lock on a counter in a file, which
 * nothing else protects, until it stands at a total. Prints how many turns were its own.
 *
 *     turns URL NAME FILE TOTAL THREADS
 *
 * The file holds one int64_t; the Java agent of the interop tests counts in the same way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64

static rlock *lock;
static int counter_fd;
static int64_t total;

static bool failed(const char *what, const char *why)
{
    fprintf(stderr, "turns: %s: %s\n", what, why);
    return false;
}

/* One turn: what was read is old by the time it is written, unless the lock keeps all others out. */
static bool count_one(bool *more)
{
    int64_t value = 0;
    if (pread(counter_fd, &value, sizeof value, 0) != sizeof value)
        return failed("the counter cannot be read", strerror(errno));
    *more = value < total;
    if (!*more)
        return true;
    const struct timespec work = {0, 500000};
    nanosleep(&work, NULL);
    value++;
    if (pwrite(counter_fd, &value, sizeof value, 0) != sizeof value)
        return failed("the counter cannot be written", strerror(errno));
    return true;
}

/* Answers how many turns it took, in *argument; −1: something failed. */
static void *take_turns(void *argument)
{
    int64_t *turns = argument;
    for (bool more = true; more;) {
        if (rlock_lock(lock) != RLOCK_OK)
            return failed("the lock cannot be taken", rlock_last_error()), *turns = -1, NULL;
        bool counted = count_one(&more);
        if (rlock_unlock(lock) != RLOCK_OK)
            counted = failed("the lock cannot be given back", rlock_last_error());
        if (!counted)
            return *turns = -1, NULL;
        *turns += more;
    }
    return NULL;
}

/* Runs the threads; answers their turns together, −1: something failed. */
static int64_t run(int threads)
{
    pthread_t ids[THREADS_MAX];
    int64_t turns[THREADS_MAX] = {0}, sum = 0;
    for (int i = 0; i < threads; i++) {
        int error = pthread_create(&ids[i], NULL, take_turns, &turns[i]);
        if (error) {
            failed("a thread cannot be started", strerror(error));
            return -1; /* which ends the process, and so the others */
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum = turns[i] < 0 || sum < 0 ? -1 : sum + turns[i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return failed("usage", "turns URL NAME FILE TOTAL THREADS"), 2;
    int threads = atoi(argv[5]);
    total = strtoll(argv[4], NULL, 10);
    counter_fd = open(argv[3], O_RDWR | O_CLOEXEC);
    if (counter_fd < 0)
        return failed(argv[3], strerror(errno)), 1;
    if (threads < 1 || threads > THREADS_MAX)
        return failed("THREADS", "from 1 to 64"), 2;

    rlock_client *client;
    if (rlock_client_open(&client, argv[1]) != RLOCK_OK)
        return failed("no client", rlock_last_error()), 1;
    lock = rlock_get_lock(client, argv[2]);
    if (!lock)
        return failed("no lock", rlock_last_error()), 1;
    int64_t turns = run(threads);
    rlock_free(lock);
    rlock_client_close(client);
    if (turns < 0)
        return 1;
    printf("%" PRId64 "\n", turns);
    return 0;
}
