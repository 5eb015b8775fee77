/* A waiter: one call that may take its time, on a thread of its own, in C or in Java. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/waiter.h"

#include "tests/interop/support/asleep.h"
#include "tests/interop/support/times.h"

#include <stdio.h>
#include <string.h>

#define WAITERS 64
#define WORDS 8

struct waiter {
    actor *actor; /* in C; NULL: in Java */
    char thread[16];
    int tag;
    bool tries; /* its operation is one whose answer is empty when it came to nothing */
    const char *text;
    int64_t scripts; /* scripts_ended() when it was begun */
    int64_t took_ms;
};

static waiter waiters[WAITERS];
static int count;

void waiter_stage_close(void)
{
    java_stage_close();
    for (; count; count--) {
        if (waiters[count - 1].actor)
            actor_end(waiters[count - 1].actor);
    }
}

static waiter *add(void)
{
    cr_assert(count < WAITERS, "too many waiters");
    waiter *self = &waiters[count];
    *self = (waiter){.text = ""};
    snprintf(self->thread, sizeof self->thread, "waiter%d", count++);
    return self;
}

waiter *wait_in_c(actor_call *call, void *arg)
{
    waiter *self = add();
    self->actor = actor_start();
    self->scripts = scripts_ended();
    actor_begin(self->actor, call, arg);
    return self;
}

waiter *wait_in_java(const char *const *words)
{
    waiter *self = add();
    const char *command[WORDS + 2] = {self->thread};
    for (int i = 0; i < WORDS && words[i]; i++)
        command[i + 1] = words[i];
    self->tries = strncmp(words[2], "try", 3) == 0;
    self->tag = agent_begin(java, command);
    return self;
}

void waiter_await_asleep(waiter *self)
{
    if (self->actor)
        await_asleep(self->actor, self->scripts, true);
    else
        java_await_asleep(self->thread);
    cr_assert(!waiter_ended(self, 0), "it does not wait");
}

bool waiter_ended(waiter *self, int64_t ms)
{
    return self->actor ? actor_ended(self->actor, ms) : agent_answered(java, self->tag, ms);
}

bool waiter_served(waiter *self, int64_t ms)
{
    if (self->actor) {
        rlock_status status = actor_finish(self->actor, ms);
        self->took_ms = actor_took(self->actor);
        cr_assert(status == RLOCK_OK || status == RLOCK_TIMEOUT, "C answered %s: %s", rlock_strstatus(status),
                  actor_error(self->actor));
        return status == RLOCK_OK;
    }
    const answer *got = agent_await(java, self->tag, ms);
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    self->took_ms = (got->ended_ns - got->began_ns) / 1000000;
    self->text = got->text;
    return strcmp(got->text, "false") != 0 && !(self->tries && *got->text == 0);
}

void assert_timed_out(waiter *self, int64_t wait_ms)
{
    cr_assert(!waiter_served(self, wait_ms + BY_MESSAGE_MS), "it had what it waited for");
    assert_between(self->took_ms, wait_ms - 10, wait_ms + at_most_ms(LATE_MS));
}

const char *waiter_text(const waiter *self)
{
    return self->text;
}
