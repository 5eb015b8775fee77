/* Turns: one thread of the world runs, and passes that on to another. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/turns.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the real thread needs that only rests, with its thread-local storage. */
#define RESTING_STACK (64 << 10)

#if defined(__has_feature)
#define HAS(what) __has_feature(what)
#else
#define HAS(what) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define ADDRESSES 1
#else
#define ADDRESSES 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS(thread_sanitizer)
#define THREADS 1
#else
#define THREADS 0
#endif

#if defined(__x86_64__) && defined(__linux__) && !THREADS
#define CARRIES 1
#define HAS_FSGSBASE 2 /* of AT_HWCAP2 */
#else
#define CARRIES 0
#endif

static void wait_at(sem_t *gate)
{
    while (sem_wait(gate) != 0)
        continue;
}

#if CARRIES

static turn *entering; /* for the first turn of a thread */

static bool carries(void)
{
    static int known;
    if (!known)
        known = getauxval(AT_HWCAP2) & HAS_FSGSBASE ? 1 : -1;
    return known > 0;
}

/* turn_switch(&here, there, storage): keeps what a call must keep, and goes on where `there` was kept. */
void turn_switch(void **here, void *there, uintptr_t storage);
__asm__(".text\n"
        ".globl turn_switch\n"
        ".type turn_switch, @function\n"
        "turn_switch:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    wrfsbase %rdx\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size turn_switch, . - turn_switch\n");
#define KEPT 6 /* registers */

static uintptr_t storage_of_caller(void)
{
    uintptr_t storage;
    __asm__ volatile("rdfsbase %0" : "=r"(storage));
    return storage;
}

static void enter(void)
{
    entering->body(entering->argument);
    abort(); /* it has left */
}

static void switch_to(void **here, turn *to)
{
    entering = to;
    turn_switch(here, to->stack, to->storage);
}

/* The stack as turn_switch leaves it, for a function that is about to be entered. */
static void prepare(turn *own, char *stack, size_t size)
{
    uintptr_t *top = (uintptr_t *)(void *)(stack + size); /* a function is entered 8 bytes below a multiple of 16 */
    top[-2] = (uintptr_t)enter;
    for (int i = 0; i < KEPT; i++)
        top[-3 - i] = 0;
    own->stack = &top[-2 - KEPT];
}

/* The sanitizer for addresses finds its account of a thread by the thread-local storage; it must know of the whole stack. */
static void account_for(const turn *own)
{
#if ADDRESSES
    __sanitizer_start_switch_fiber(NULL, own->bottom, own->size);
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#else
    (void)own;
#endif
}

/* Not in sem_wait: its cleanup for a cancellation would be carried out when the thread ends by pthread_exit elsewhere. */
static void *rest(void *of)
{
    turn *own = of;
    own->storage = storage_of_caller();
    account_for(own);
    sem_post(&own->begun);
    while (!atomic_load(&own->over))
        syscall(SYS_futex, &own->over, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return NULL;
}

#else

static bool carries(void)
{
    return false;
}

static void switch_to(void **here, turn *to)
{
    (void)here;
    (void)to;
}

static void prepare(turn *own, char *stack, size_t size)
{
    (void)own;
    (void)stack;
    (void)size;
}

static uintptr_t storage_of_caller(void)
{
    return 0;
}

static void *rest(void *of)
{
    return of;
}

#endif

static void init(turn *own)
{
    sem_init(&own->gate, 0, 0);
    sem_init(&own->begun, 0, 0);
    atomic_init(&own->over, 0);
}

void turn_begin(turn *own)
{
    init(own);
    if (carries())
        own->storage = storage_of_caller();
}

static void *run(void *of)
{
    turn *own = of;
    sem_post(&own->begun);
    wait_at(&own->gate);
    own->body(own->argument);
    return NULL;
}

void turn_start(turn *own, char *stack, size_t size, void (*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    bool carried = carries();
    init(own);
    own->body = body;
    own->argument = argument;
    own->bottom = stack;
    own->size = size;
    if (carried)
        prepare(own, stack + RESTING_STACK, size - RESTING_STACK);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, carried ? RESTING_STACK : size);
    if (pthread_create(&own->real, &attributes, carried ? rest : run, own) != 0)
        abort();
    pthread_attr_destroy(&attributes);
    wait_at(&own->begun);
}

void turn_pass(turn *own, turn *to)
{
    if (carries()) {
        switch_to(&own->stack, to);
        return;
    }
    sem_post(&to->gate);
    wait_at(&own->gate);
}

void turn_leave(turn *to)
{
    void *nowhere;
    if (carries())
        switch_to(&nowhere, to);
    else
        sem_post(&to->gate);
}

void turn_end(turn *left)
{
    if (carries()) {
        atomic_store(&left->over, 1);
        syscall(SYS_futex, &left->over, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    pthread_join(left->real, NULL);
}
