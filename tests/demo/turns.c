/* One process of the demo: its threads issue numbers from a file, each in a turn, until the file holds a total. Nothing
 * but the lock protects the file. Prints how many numbers this process issued.
 *
 *     turns URL KIND NAME FILE TOTAL THREADS
 *
 * KIND is `lock`, `fair`, or `none`, which shows what happens without a lock. The file holds one int64_t; the Java agent
 * of the interop tests counts in the same way. */
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

static rlock *lock; /* NULL: the turns go without one */
static int counter_fd;
static int64_t total;

static bool failed(const char *what, const char *why)
{
    fprintf(stderr, "turns: %s: %s\n", what, why);
    return false;
}

/* One turn. The number is out of date by the time it is written, unless the lock keeps all others out. */
static bool count_one(bool *more)
{
    int64_t value = 0;
    if (pread(counter_fd, &value, sizeof value, 0) != sizeof value)
        return failed("could not read the counter", strerror(errno));
    *more = value < total;
    if (!*more)
        return true;
    const struct timespec work = {0, 500000};
    nanosleep(&work, NULL);
    value++;
    if (pwrite(counter_fd, &value, sizeof value, 0) != sizeof value)
        return failed("could not write the counter", strerror(errno));
    return true;
}

/* Stores the number of its turns in *argument; −1: a call failed. */
static void *take_turns(void *argument)
{
    int64_t *turns = argument;
    for (bool more = true; more;) {
        if (lock && rlock_lock(lock) != RLOCK_OK)
            return failed("could not lock", rlock_last_error()), *turns = -1, NULL;
        bool counted = count_one(&more);
        if (lock && rlock_unlock(lock) != RLOCK_OK)
            counted = failed("could not unlock", rlock_last_error());
        if (!counted)
            return *turns = -1, NULL;
        *turns += more;
    }
    return NULL;
}

/* Runs the threads. Returns the sum of their turns; −1: a call failed. */
static int64_t run(int threads)
{
    pthread_t ids[THREADS_MAX];
    int64_t turns[THREADS_MAX] = {0}, sum = 0;
    for (int i = 0; i < threads; i++) {
        int error = pthread_create(&ids[i], NULL, take_turns, &turns[i]);
        if (error) {
            failed("could not start a thread", strerror(error));
            return -1; /* main then ends the process, and with it the other threads */
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum = turns[i] < 0 || sum < 0 ? -1 : sum + turns[i];
    }
    return sum;
}

/* Opens a client and makes the lock, unless KIND is `none`. */
static bool open_lock(rlock_client **client, const char *url, const char *kind, const char *name)
{
    if (strcmp(kind, "none") == 0)
        return true;
    if (rlock_client_open(client, url) != RLOCK_OK)
        return failed("could not open a client", rlock_last_error());
    lock = strcmp(kind, "fair") == 0 ? rlock_get_fair_lock(*client, name) : rlock_get_lock(*client, name);
    return lock || failed("could not make the lock", rlock_last_error());
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return failed("usage", "turns URL KIND NAME FILE TOTAL THREADS"), 2;
    int threads = atoi(argv[6]);
    total = strtoll(argv[5], NULL, 10);
    counter_fd = open(argv[4], O_RDWR | O_CLOEXEC);
    if (counter_fd < 0)
        return failed(argv[4], strerror(errno)), 1;
    if (threads < 1 || threads > THREADS_MAX)
        return failed("THREADS", "must be from 1 to 64"), 2;

    rlock_client *client = NULL;
    if (!open_lock(&client, argv[1], argv[2], argv[3]))
        return 1;
    int64_t turns = run(threads);
    rlock_free(lock);
    rlock_client_close(client);
    if (turns < 0)
        return 1;
    printf("%" PRId64 "\n", turns);
    return 0;
}
