/* A victim: a C process that holds a lock, or waits for it, until it is killed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/victim.h"

#include "tests/interop/support/asleep.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/process.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define CLIENT_NAME "victim"

struct victim {
    const lock_kind *kind;
    const char *name;
    char url[256];
    pid_t process;
    atomic_int holds; /* 1: it holds it; -1: it could not */
};

static int hold_for_ever(void *arg)
{
    victim *self = arg;
    rlock_client *client = NULL;
    rlock *lock = NULL;
    bool held = rlock_client_open(&client, self->url) == RLOCK_OK &&
                (lock = self->kind->get(client, self->name)) != NULL && rlock_lock(lock) == RLOCK_OK;
    atomic_store(&self->holds, held ? 1 : -1);
    pause();
    return 0;
}

static victim *start(const lock_kind *kind, const char *name)
{
    victim *self = shared_memory(sizeof *self);
    self->kind = kind;
    self->name = name;
    snprintf(self->url, sizeof self->url, "%s?lockWatchdogTimeout=%d&clientName=" CLIENT_NAME,
             server_url(stage.server), QUICK_MS);
    self->process = process_start(hold_for_ever, self);
    return self;
}

victim *victim_holding(const lock_kind *kind, const char *name)
{
    victim *self = start(kind, name);
    for (int64_t end_ms = limit_end_ms(5000); !atomic_load(&self->holds) && now_ms() < end_ms;)
        pass_ms(1);
    cr_assert(atomic_load(&self->holds) == 1, "the C process could not lock");
    return self;
}

/* It asks, subscribes and asks again. */
victim *victim_waiting(const lock_kind *kind, const char *name)
{
    int64_t before = scripts_ended();
    victim *self = start(kind, name);
    for (int64_t end_ms = limit_end_ms(5000); scripts_ended() < before + 2; pass_ms(1))
        cr_assert(now_ms() < end_ms, "the C process does not wait");
    cr_assert(atomic_load(&self->holds) == 0, "the C process does not wait");
    return self;
}

void victim_kill(victim *self)
{
    process_kill(self->process);
    wait_disconnected(CLIENT_NAME);
}
