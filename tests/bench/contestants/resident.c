/* What a client keeps resident: opens one, takes and gives back a lock, and says by how much the process has grown.
 *
 *     resident URL    prints ANONYMOUS FILE STACKS, bytes: the growth of memory of its own, of pages of files
 *                     (code, which processes share), and how much of the former are stacks of its threads
 *
 * Linked with librlock.so, whose threads it gives stacks that it can look at. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/rlock.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACKS_MAX 16

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static struct {
    unsigned char *at;
    size_t bytes;
} stacks[STACKS_MAX];
static int stacks_count;

/* In the place of the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *asked, void *(*body)(void *), void *arg)
{
    static create_fn *real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    pthread_attr_t attributes;
    size_t bytes;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(asked ? asked : &attributes, &bytes);
    unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (at == MAP_FAILED || stacks_count == STACKS_MAX)
        abort();
    stacks[stacks_count].at = at;
    stacks[stacks_count++].bytes = bytes;
    pthread_attr_setstack(&attributes, at, bytes);
    int error = real(thread, &attributes, body, arg);
    pthread_attr_destroy(&attributes);
    return error;
}

static long resident_in(void *at, size_t bytes)
{
    static unsigned char there[65536];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = bytes / page;
    long resident = 0;
    if (pages > sizeof there || mincore(at, bytes, there) != 0)
        abort();
    for (size_t i = 0; i < pages; i++)
        resident += there[i] & 1;
    return resident * (long)page;
}

/* Exactly, which /proc/self/status is not. */
static void measure(long *anonymous, long *file)
{
    char line[256];
    long all = 0;
    FILE *sums = fopen("/proc/self/smaps_rollup", "re");
    while (sums && fgets(line, sizeof line, sums)) {
        sscanf(line, "Rss: %ld", &all);
        sscanf(line, "Anonymous: %ld", anonymous);
    }
    if (!sums)
        abort();
    fclose(sums);
    *file = all - *anonymous;
}

static bool use_client(const char *url)
{
    rlock_client *client = NULL;
    rlock *lock = NULL;
    bool right = rlock_client_open(&client, url) == RLOCK_OK && (lock = rlock_get_lock(client, "resident")) &&
                 rlock_lock(lock) == RLOCK_OK && rlock_unlock(lock) == RLOCK_OK;
    rlock_free(lock);
    return right; /* the client stays: it is what is measured */
}

int main(int argc, char **argv)
{
    long anonymous[2], file[2], on_stacks = 0;
    measure(&anonymous[0], &file[0]); /* what this needs itself is there from now on */
    measure(&anonymous[0], &file[0]);
    if (argc != 2 || !use_client(argv[1])) {
        fprintf(stderr, "resident: %s\n", rlock_last_error());
        return 1;
    }
    measure(&anonymous[1], &file[1]);
    for (int i = 0; i < stacks_count; i++)
        on_stacks += resident_in(stacks[i].at, stacks[i].bytes);
    printf("%ld %ld %ld\n", (anonymous[1] - anonymous[0]) * 1024, (file[1] - file[0]) * 1024, on_stacks);
    return 0;
}
