/* Mutexes, conditions, barriers and futexes of the simulated system. As one thread runs at a time, a mutex is who has it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/finding.h"
#include "tests/sim/world/os.h"
#include "tests/sim/world/process.h"
#include "tests/sim/world/threads.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#define ANY (~0u)
/* So often a wait ends for no reason, as it may. */
#define SPURIOUS 300

/* --- mutexes; what the system would keep there lies over its own --- */

typedef struct lock {
    const thread *owner;
    int waiting;
} lock;
_Static_assert(sizeof(lock) <= sizeof(pthread_mutex_t), "a mutex has no room for its owner");

static lock *lock_in(pthread_mutex_t *mutex)
{
    return (lock *)(void *)mutex;
}

int os_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    memset(mutex, 0, sizeof *mutex);
    return 0;
}

static void acquire(lock *own)
{
    if (own->owner == thread_self())
        finding("%s locks a mutex that it has already", thread_title(thread_self()));
    while (own->owner) {
        own->waiting++;
        thread_sleep(own, WORLD_NEVER, ANY, "a mutex");
        own->waiting--;
    }
    own->owner = thread_self();
}

static void release(lock *own)
{
    if (own->owner != thread_self())
        finding("%s unlocks a mutex that it does not have", thread_title(thread_self()));
    own->owner = NULL;
    if (own->waiting)
        threads_wake(own, 1, ANY);
}

int os_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!world_is_on())
        return 0;
    sim_point();
    acquire(lock_in(mutex));
    return 0;
}

int os_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!world_is_on())
        return 0;
    release(lock_in(mutex));
    sim_point();
    return 0;
}

int os_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (world_is_on() && lock_in(mutex)->owner)
        finding("%s destroys a mutex that %s has", thread_title(thread_self()), thread_title(lock_in(mutex)->owner));
    return 0;
}

/* --- conditions --- */

typedef struct bell {
    clockid_t clock;
    int waiting;
} bell;
_Static_assert(sizeof(bell) <= sizeof(pthread_cond_t), "a condition has no room for its clock");

static bell *bell_in(pthread_cond_t *cond)
{
    return (bell *)(void *)cond;
}

int os_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
    clockid_t clock = CLOCK_REALTIME;
    if (attributes)
        pthread_condattr_getclock(attributes, &clock);
    memset(cond, 0, sizeof *cond);
    bell_in(cond)->clock = clock;
    return 0;
}

static int wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until_ns)
{
    bell *own = bell_in(cond);
    sim_point();
    release(lock_in(mutex));
    if (world_happens(SPURIOUS) && until_ns > world_now_ns() + 1000)
        until_ns = world_now_ns() + (int64_t)world_chance(1000000); /* wakes for no reason; not as timed out */
    own->waiting++;
    bool woken = thread_sleep(own, until_ns, ANY, "a condition");
    own->waiting--;
    acquire(lock_in(mutex));
    return woken ? 0 : ETIMEDOUT;
}

int os_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    wait(cond, mutex, WORLD_NEVER);
    return 0;
}

static int64_t in_ns(const struct timespec *at)
{
    return (int64_t)at->tv_sec > INT64_MAX / 2000000000 ? WORLD_NEVER : (int64_t)at->tv_sec * 1000000000 + at->tv_nsec;
}

int os_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at)
{
    const machine *here = thread_machine(thread_self());
    int64_t at_ns = in_ns(at);
    int64_t until_ns = at_ns == WORLD_NEVER ? at_ns : machine_instant_ns(here, bell_in(cond)->clock, at_ns);
    int ended = wait(cond, mutex, until_ns);
    return ended == ETIMEDOUT && world_now_ns() < until_ns ? 0 : ended; /* for no reason */
}

int os_pthread_cond_signal(pthread_cond_t *cond)
{
    sim_point();
    if (world_is_on() && bell_in(cond)->waiting)
        threads_wake(bell_in(cond), 1, ANY);
    return 0;
}

int os_pthread_cond_broadcast(pthread_cond_t *cond)
{
    sim_point();
    if (world_is_on() && bell_in(cond)->waiting)
        threads_wake(bell_in(cond), INT_MAX, ANY);
    return 0;
}

int os_pthread_cond_destroy(pthread_cond_t *cond)
{
    if (world_is_on() && bell_in(cond)->waiting)
        finding("%s destroys a condition that %d threads wait for", thread_title(thread_self()), bell_in(cond)->waiting);
    return 0;
}

/* A child does anew what its parent was doing when it forked, as in the C library of GNU. */
int os_pthread_once(pthread_once_t *once, void (*act)(void))
{
    enum { DONE = 1, FIRST_DOING };
    const int doing = FIRST_DOING + process_generation();
    sim_point();
    while (*once == doing)
        thread_sleep(once, WORLD_NEVER, ANY, "a first call");
    if (*once == DONE)
        return 0;
    *once = doing;
    act();
    *once = DONE;
    if (world_is_on())
        threads_wake(once, INT_MAX, ANY);
    return 0;
}

/* --- barriers --- */

typedef struct gate {
    unsigned wanted, waiting, opened;
} gate;
_Static_assert(sizeof(gate) <= sizeof(pthread_barrier_t), "a barrier has no room for its counts");

static gate *gate_in(pthread_barrier_t *barrier)
{
    return (gate *)(void *)barrier;
}

int os_pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count)
{
    (void)attributes;
    *gate_in(barrier) = (gate){.wanted = count};
    return 0;
}

int os_pthread_barrier_wait(pthread_barrier_t *barrier)
{
    gate *own = gate_in(barrier);
    sim_point();
    unsigned turn = own->opened;
    if (++own->waiting == own->wanted) {
        own->waiting = 0;
        own->opened++;
        threads_wake(own, INT_MAX, ANY);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    while (own->opened == turn)
        thread_sleep(own, WORLD_NEVER, ANY, "a barrier");
    return 0;
}

int os_pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    (void)barrier;
    return 0;
}

/* --- futexes --- */

static long futex_wait(const unsigned *word, unsigned value, const struct timespec *until, unsigned mask)
{
    if (*word != value) {
        errno = EAGAIN;
        return -1;
    }
    int64_t until_ns = until ? machine_instant_ns(thread_machine(thread_self()), CLOCK_MONOTONIC, in_ns(until))
                             : WORLD_NEVER;
    if (world_happens(SPURIOUS)) {
        errno = EINTR;
        return world_chance(2) ? -1 : 0;
    }
    if (thread_sleep(word, until_ns, mask, "a futex"))
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

long os_syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    unsigned *word = va_arg(arguments, unsigned *);
    int operation = va_arg(arguments, int);
    unsigned value = va_arg(arguments, unsigned);
    const struct timespec *until = va_arg(arguments, const struct timespec *);
    va_arg(arguments, void *);
    unsigned mask = va_arg(arguments, unsigned);
    va_end(arguments);
    sim_point();
    if (number != SYS_futex)
        finding("system call %ld is not simulated", number);
    switch (operation & ~FUTEX_PRIVATE_FLAG) {
    case FUTEX_WAIT_BITSET:
        return futex_wait(word, value, until, mask);
    case FUTEX_WAKE:
        return threads_wake(word, (int)value, ANY);
    case FUTEX_WAKE_BITSET:
        return threads_wake(word, value > INT_MAX ? INT_MAX : (int)value, mask);
    default:
        finding("futex operation %d is not simulated", operation);
    }
}
