/* Threads, processes and randomness of the simulated system. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/process.h"

#include "tests/sim/world/descriptors.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- threads --- */

/* A pthread_t of the simulated system is the thread itself. */
static thread *thread_in(pthread_t id)
{
    return (thread *)(size_t)id;
}

int os_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    (void)attributes;
    sim_point();
    if (process_refuses_threads && world_happens(process_refuses_threads))
        return EAGAIN;
    *id = (pthread_t)(size_t)thread_start(thread_machine(thread_self()), "new", body, argument);
    sim_point();
    return 0;
}

int os_pthread_join(pthread_t id, void **result)
{
    sim_point();
    void *returned = thread_join(thread_in(id));
    if (result)
        *result = returned;
    return 0;
}

int os_pthread_detach(pthread_t id)
{
    (void)id;
    return 0;
}

pthread_t os_pthread_self(void)
{
    return (pthread_t)(size_t)thread_self();
}

int os_pthread_setname_np(pthread_t id, const char *name)
{
    thread_name(thread_in(id), name);
    return 0;
}

int os_pthread_setcancelstate(int state, int *before)
{
    (void)state;
    if (before)
        *before = PTHREAD_CANCEL_ENABLE;
    return 0;
}

int os_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    if (before)
        sigemptyset(before);
    return 0;
}

int os_sched_yield(void)
{
    sim_point();
    return 0;
}

pid_t os_gettid(void)
{
    return world_is_on() ? thread_number(thread_self()) : 1;
}

pid_t os_getpid(void)
{
    return world_is_on() ? 1000 * (thread_machine(thread_self())->number + 1) : 1;
}

static pid_t forked_by = 1;
static int generation;

int process_generation(void)
{
    return generation;
}

pid_t os_getppid(void)
{
    return forked_by;
}

/* Whether a thread lives is all that is asked. */
int os_tgkill(pid_t process, pid_t number, int signal_number)
{
    sim_point();
    if (process != os_getpid() || signal_number != 0)
        finding("tgkill(%d, %d, %d) is not simulated", process, number, signal_number);
    if (thread_lives(number))
        return 0;
    errno = ESRCH;
    return -1;
}

/* --- fork --- */

int process_refuses_threads;

#define HANDLERS 4
static void (*in_child[HANDLERS])(void);
static int handler_count;

int os_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    if (before || parent || handler_count == HANDLERS)
        finding("pthread_atfork with other handlers than a few for the child is not simulated");
    in_child[handler_count++] = child;
    return 0;
}

/* The whole world is forked: the child goes on in a copy of its own, in which its thread is the only one left. */
pid_t os_fork(void)
{
    sim_point();
    fflush(NULL);
    pid_t own = os_getpid(), pid = fork();
    if (pid != 0)
        return pid;
    forked_by = own;
    generation++;
    threads_forget_others();
    thread_renumber();
    descriptors_forked();
    for (int i = 0; i < handler_count; i++)
        in_child[i]();
    descriptors_fork_is_over();
    return 0;
}

int process_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* --- randomness --- */

ssize_t os_getrandom(void *bytes, size_t length, unsigned flags)
{
    (void)flags;
    sim_point();
    if (world_happens(100)) {
        errno = EINTR;
        return -1;
    }
    size_t given = length > 1 && world_happens(50) ? 1 + (size_t)world_chance(length) : length;
    for (size_t i = 0; i < given; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)world_chance(256);
    return (ssize_t)given;
}

void os_uuid_generate_random(unsigned char uuid[16])
{
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)world_chance(256);
    uuid[6] = (unsigned char)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
}
