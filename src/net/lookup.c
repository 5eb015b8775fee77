/* Lookups: resolving a host name on its own thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/lookup.h"

#include "base/forked.h"
#include "base/host_port.h"
#include "base/list.h"
#include "base/thread.h"
#include "net/buffer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The most lookups running at once; further ones queue. Servers supply host names, and must not control the number of
 * our threads. */
#define THREADS_MOST 16

struct lookups;

struct rli_lookup {
    /* the list that it belongs to; NULL: a numeric address, resolved at once for its single user */
    struct lookups *all;
    struct rli_lookup *next, *previous; /* links in that list, until it is done */
    int users;                          /* the uses, plus the thread while it runs the lookup; the last one frees it */
    bool begun, done;
    rli_turn *waiting;
    int error, system_error; /* getaddrinfo's result and errno */
    struct addrinfo *found;
    char port[RLI_DECIMAL];
    char host[];
};

/* The unfinished lookups of this process. The mutex also guards the fields of each lookup, except that the thread
 * running a lookup writes the result without it, before it sets `done`. */
typedef struct lookups {
    pthread_mutex_t mutex;
    rli_lookup *first, *last;
    int threads;
    unsigned generation;
    struct lookups *before; /* the parent process's, left untouched since the fork */
} lookups;

static lookups *_Atomic present;

/* The list of this process. A forked child starts a new one: it has none of its parent's threads, and its copy of
 * their mutex may be locked. NULL: out of memory. */
static lookups *all_lookups(void)
{
    unsigned generation = rli_fork_generation();
    lookups *all = atomic_load(&present);
    while (!all || all->generation != generation) {
        lookups *fresh = calloc(1, sizeof *fresh);
        if (!fresh)
            return NULL;
        pthread_mutex_init(&fresh->mutex, NULL);
        fresh->generation = generation;
        fresh->before = all;
        if (atomic_compare_exchange_strong(&present, &all, fresh))
            return fresh;
        pthread_mutex_destroy(&fresh->mutex);
        free(fresh);
    }
    return all;
}

static void ask_resolver(rli_lookup *lookup)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = rli_host_is_name(lookup->host) ? 0 : AI_NUMERICHOST};
    lookup->error = getaddrinfo(lookup->host, lookup->port, &hints, &lookup->found);
    lookup->system_error = errno;
}

static void leave(rli_lookup *lookup)
{
    if (--lookup->users > 0)
        return;
    if (lookup->done && lookup->error == 0)
        freeaddrinfo(lookup->found);
    free(lookup);
}

/* --- the threads --- */

static rli_lookup *next_to_do(const lookups *all)
{
    rli_lookup *lookup = all->first;
    while (lookup && lookup->begun)
        lookup = lookup->next;
    return lookup;
}

/* Runs one lookup. Mutex held on entry and return, released in between. */
static void do_one(lookups *all, rli_lookup *lookup)
{
    lookup->begun = true;
    lookup->users++;
    pthread_mutex_unlock(&all->mutex);
    ask_resolver(lookup);
    pthread_mutex_lock(&all->mutex);
    lookup->done = true;
    RLI_QUEUE_REMOVE(all, lookup);
    rli_turn_wake_all(lookup->waiting);
    leave(lookup);
}

/* Body of a lookup thread: runs queued lookups until none is left. Touches nothing of a client: the clients that asked
 * may have been closed meanwhile. */
static void *run(void *argument)
{
    lookups *all = argument;
    pthread_mutex_lock(&all->mutex);
    for (rli_lookup *lookup; (lookup = next_to_do(all));)
        do_one(all, lookup);
    all->threads--;
    pthread_mutex_unlock(&all->mutex);
    return NULL;
}

/* Starts a thread for the lookup that was just added, unless enough are running. Mutex held. False: no thread will run
 * it. */
static bool engage(lookups *all)
{
    pthread_t thread;
    if (all->threads >= THREADS_MOST)
        return true;
    if (rli_thread_start(&thread, "rlock-lookup", run, all) != RLOCK_OK)
        return all->threads > 0;
    pthread_detach(thread); /* closing a client must not wait for the resolver */
    all->threads++;
    return true;
}

/* --- uses --- */

static rli_lookup *make(const char *host, const char *port)
{
    size_t size = strlen(host) + 1;
    rli_lookup *lookup = calloc(1, sizeof *lookup + size);
    if (lookup) {
        memcpy(lookup->host, host, size);
        memcpy(lookup->port, port, RLI_DECIMAL);
    }
    return lookup;
}

static rli_lookup *find(const lookups *all, const char *host, const char *port)
{
    rli_lookup *lookup = all->first;
    while (lookup && (strcmp(lookup->host, host) != 0 || strcmp(lookup->port, port) != 0))
        lookup = lookup->next;
    return lookup;
}

/* The unfinished lookup of that name, or a new one. Mutex held. NULL: out of memory or threads. */
static rli_lookup *under_way(lookups *all, const char *host, const char *port)
{
    rli_lookup *lookup = find(all, host, port);
    if (lookup || !(lookup = make(host, port)))
        return lookup;
    RLI_QUEUE_APPEND(all, lookup);
    lookup->all = all;
    if (engage(all))
        return lookup;
    RLI_QUEUE_REMOVE(all, lookup);
    free(lookup);
    return NULL;
}

static bool join(rli_lookup_use *use, const char *host, const char *port)
{
    lookups *all = all_lookups();
    if (!all)
        return false;
    pthread_mutex_lock(&all->mutex);
    use->lookup = under_way(all, host, port);
    if (use->lookup) {
        use->lookup->users++;
        rli_turn_join(&use->lookup->waiting, &use->turn);
    }
    pthread_mutex_unlock(&all->mutex);
    return use->lookup;
}

/* Converts a numeric address at once, for this caller alone. */
static bool read_numbers(rli_lookup_use *use, const char *host, const char *port)
{
    use->lookup = make(host, port);
    if (!use->lookup)
        return false;
    use->lookup->users = 1;
    ask_resolver(use->lookup);
    use->lookup->done = true;
    return true;
}

bool rli_lookup_begin(rli_lookup_use *use, const char *host, int port, rli_parker *parker)
{
    char digits[RLI_DECIMAL];
    rli_decimal(port, digits);
    *use = (rli_lookup_use){.turn.parker = parker};
    return rli_host_is_name(host) ? join(use, host, digits) : read_numbers(use, host, digits);
}

bool rli_lookup_is_done(const rli_lookup_use *use)
{
    lookups *all = use->lookup->all;
    if (!all)
        return true;
    pthread_mutex_lock(&all->mutex);
    bool done = use->lookup->done;
    pthread_mutex_unlock(&all->mutex);
    return done;
}

const struct addrinfo *rli_lookup_found(const rli_lookup_use *use, const char **why)
{
    const rli_lookup *lookup = use->lookup;
    if (lookup->error == 0)
        return lookup->found;
    *why = lookup->error == EAI_SYSTEM ? strerror(lookup->system_error) : gai_strerror(lookup->error);
    return NULL;
}

static void end_shared(lookups *all, rli_lookup *lookup, rli_turn *turn)
{
    pthread_mutex_lock(&all->mutex);
    rli_turn_leave(&lookup->waiting, turn);
    if (lookup->users == 1 && !lookup->done) /* no thread has started it, and no caller wants it any more */
        RLI_QUEUE_REMOVE(all, lookup);
    leave(lookup);
    pthread_mutex_unlock(&all->mutex);
}

void rli_lookup_end(rli_lookup_use *use)
{
    rli_lookup *lookup = use->lookup;
    use->lookup = NULL;
    if (lookup && lookup->all)
        end_shared(lookup->all, lookup, &use->turn);
    else if (lookup)
        leave(lookup);
}
