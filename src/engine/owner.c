/* Owners: a thread's number, and how its end becomes known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/owner.h"

#include "base/error.h"
#include "base/forked.h"
#include "net/buffer.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool key_made;

static atomic_llong last_number;
static _Thread_local int64_t my_number;
static _Thread_local rli_thread_life *my_life;
static _Thread_local unsigned my_generation; /* the fork generation in which my_life->tid was read */
static _Thread_local int passes;

/* ThreadSanitizer ends its own view of a thread in the system's last pass, so use the pass before. */
#if defined(__SANITIZE_THREAD__)
#define LAST_PASS (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LAST_PASS (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#endif
#endif
#ifndef LAST_PASS
#define LAST_PASS PTHREAD_DESTRUCTOR_ITERATIONS
#endif

/* Destructors of other keys may still unlock what the thread holds. So the thread counts as ended only in the last
 * pass that the system makes over the destructors. */
static void thread_ends(void *life)
{
    if (++passes < LAST_PASS && pthread_setspecific(key, life) == 0)
        return;
    my_life = NULL;
    atomic_store(&((rli_thread_life *)life)->ended, true);
    rli_thread_life_unref(life);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, thread_ends) == 0;
}

static rlock_status begin_life(void)
{
    pthread_once(&once, make_key);
    if (!key_made)
        return rli_fail(RLOCK_NO_MEMORY, "this process has no free thread-specific key (pthread_key_create)");
    rli_thread_life *life = malloc(sizeof *life);
    if (!life || pthread_setspecific(key, life) != 0) {
        free(life);
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for the calling thread's owner");
    }
    atomic_init(&life->references, 1);
    atomic_init(&life->ended, false);
    life->tid = gettid();
    my_generation = rli_fork_generation();
    life->number = atomic_fetch_add(&last_number, 1) + 1;
    my_life = life;
    my_number = life->number;
    return RLOCK_OK;
}

/* In a forked child the forking thread continues with another thread id. Only the child's copies of the parent's
 * sessions share this rli_thread_life, and nobody reads those. */
static void follow_fork(void)
{
    unsigned generation = rli_fork_generation();
    if (!my_life || my_generation == generation)
        return;
    my_life->tid = gettid();
    my_generation = generation;
}

rlock_status rli_owner_thread(rli_owner *owner)
{
    if (!my_number) {
        rlock_status status = begin_life();
        if (status != RLOCK_OK)
            return status;
    }
    follow_fork();
    *owner = (rli_owner){my_number, false, my_life};
    return RLOCK_OK;
}

const char *rli_owner_text(const char *client_id, uint64_t number, char text[RLI_OWNER_TEXT])
{
    size_t length = strlen(client_id);
    memcpy(text, client_id, length);
    text[length] = ':';
    rli_decimal((int64_t)number, text + length + 1);
    return text;
}

bool rli_thread_life_has_ended(const rli_thread_life *life)
{
    /* A thread that took its first lock in another destructor may have missed the last pass, so ask the system,
     * too. */
    return atomic_load(&life->ended) || (tgkill(getpid(), life->tid, 0) != 0 && errno == ESRCH);
}

rli_thread_life *rli_thread_life_ref(rli_thread_life *life)
{
    if (life)
        atomic_fetch_add(&life->references, 1);
    return life;
}

void rli_thread_life_unref(rli_thread_life *life)
{
    if (life && atomic_fetch_sub(&life->references, 1) == 1)
        free(life);
}
