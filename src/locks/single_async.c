/* Single lock: its async calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "client/async.h"
#include "engine/attempt.h"
#include "engine/force.h"
#include "engine/release.h"
#include "locks/single.h"

#include <stdlib.h>

/* What all of them have in common. */
typedef struct call_on {
    rli_async async;  /* first */
    rli_single *lock; /* referenced */
} call_on;

static void discard(rli_async *async)
{
    call_on *self = (call_on *)(void *)async;
    rli_single_unref(self->lock);
    free(self);
}

/* Allocates an operation of `size` bytes that begins with a call_on. */
static rlock_status begin(void **out, size_t size, rlock *handle, rlock_status (*go_on)(rli_async *),
                          rlock_cancel *cancel, const rli_callback *callback)
{
    rli_single *lock = rli_single_of(handle);
    rlock_status status = rli_async_new(out, size, lock->client, cancel, callback->fn, callback->arg);
    if (status != RLOCK_OK)
        return status;
    call_on *self = *out;
    self->async.go_on = go_on;
    self->async.discard = discard;
    self->lock = lock;
    atomic_fetch_add(&lock->references, 1);
    return RLOCK_OK;
}

/* A thread is no owner here: it would have to be the same when the operation ends. */
static rlock_status owner_of(const rlock *handle, const int64_t *named, rli_owner *owner)
{
    const rli_single *lock = rli_single_of(handle);
    char shown[RLI_NAME_SHOWN];
    if (!named && !lock->named_owner)
        return rli_fail(
            RLOCK_INVALID,
            "an async call on lock \"%s\" names no owner; make the handle with rlock_for_owner(), or set the "
            "owner in the options",
            rli_show_name(lock->names.name, shown));
    *owner = rli_owner_named(named ? *named : lock->owner);
    return RLOCK_OK;
}

static rlock_status told(const rli_async *async, rlock_status status)
{
    const call_on *self = (const call_on *)(const void *)async;
    return status == RLI_WAITING ? status : rli_handle_told(&self->lock->base, status);
}

/* --- acquiring --- */

typedef struct acquiring {
    call_on on;
    rli_acquire asked;
    rli_attempt attempt;
} acquiring;

static rlock_status go_on_acquiring(rli_async *async)
{
    return told(async, rli_acquire_go_on(&((acquiring *)(void *)async)->attempt));
}

static rlock_status acquire(rlock *handle, const rlock_lock_options *options, const rli_callback *callback)
{
    rli_single *lock = rli_single_of(handle);
    rli_owner owner;
    void *made;
    rlock_status status = owner_of(handle, options->named_owner ? &options->owner : NULL, &owner);
    if (status == RLOCK_OK)
        status = begin(&made, sizeof(acquiring), handle, go_on_acquiring, options->cancel, callback);
    if (status != RLOCK_OK)
        return status;
    acquiring *self = made;
    self->asked = (rli_acquire){
        .engine = &lock->client->engine,
        .kind = lock->kind,
        .names = &lock->names,
        .owner = owner,
        .wait_ms = options->wait_ms,
        .answer_ms = RLI_NEVER,
        .lease_ms = options->lease_ms,
        .back_off = &lock->back_off,
        .token = &self->on.async.token,
    };
    (void)rli_acquire_begin(&self->attempt, &self->asked, &self->on.async.op); /* fails for ending threads alone */
    rli_async_start(&self->on.async);
    return RLOCK_OK;
}

/* --- releasing --- */

typedef struct releasing {
    call_on on;
    rli_release asked;
    rli_releasing release;
} releasing;

static rlock_status go_on_releasing(rli_async *async)
{
    return told(async, rli_release_go_on(&((releasing *)(void *)async)->release));
}

static rlock_status release(rlock *handle, const int64_t *named, const rli_callback *callback)
{
    rli_single *lock = rli_single_of(handle);
    rli_owner owner;
    void *made;
    rlock_status status = owner_of(handle, named, &owner);
    if (status == RLOCK_OK)
        status = begin(&made, sizeof(releasing), handle, go_on_releasing, NULL, callback);
    if (status != RLOCK_OK)
        return status;
    releasing *self = made;
    self->asked = (rli_release){.engine = &lock->client->engine,
                                .kind = lock->kind,
                                .names = &lock->names,
                                .owner = owner,
                                .answer_ms = RLI_NEVER};
    rli_release_begin(&self->release, &self->asked, &self->on.async.op);
    rli_async_start(&self->on.async);
    return RLOCK_OK;
}

typedef struct forcing {
    call_on on;
    rli_forcing force;
} forcing;

static rlock_status go_on_forcing(rli_async *async)
{
    forcing *self = (forcing *)(void *)async;
    rlock_status status = rli_force_go_on(&self->force);
    async->answer = self->force.was_locked;
    return told(async, status);
}

static rlock_status force(rlock *handle, const rli_callback *callback)
{
    rli_single *lock = rli_single_of(handle);
    void *made;
    rlock_status status = begin(&made, sizeof(forcing), handle, go_on_forcing, NULL, callback);
    if (status != RLOCK_OK)
        return status;
    forcing *self = made;
    status = rli_force_begin(&self->force, &lock->client->engine, lock->kind, &lock->names, &self->on.async.op);
    if (status == RLOCK_OK) {
        rli_async_start(&self->on.async);
        return RLOCK_OK;
    }
    rli_single_unref(lock);
    rli_async_forget(&self->on.async);
    return status;
}

/* --- asking --- */

typedef struct asking {
    call_on on;
    rli_single_asking asking;
    rli_asked what;
} asking;

static rlock_status go_on_asking(rli_async *async)
{
    asking *self = (asking *)(void *)async;
    int64_t pttl_ms = 0;
    int count = 0;
    rlock_status status = rli_single_ask(&self->asking, &pttl_ms, &count);
    async->answer = self->what == RLI_ASKED_LOCKED ? pttl_ms != -2
                    : self->what == RLI_ASKED_TTL  ? pttl_ms
                    : self->what == RLI_ASKED_HELD ? count > 0
                                                   : count;
    return told(async, status);
}

static rlock_status ask(rlock *handle, rli_asked what, const int64_t *named, const rli_callback *callback)
{
    rli_owner owner = rli_owner_named(0);
    void *made;
    rlock_status status = what == RLI_ASKED_LOCKED || what == RLI_ASKED_TTL ? RLOCK_OK
                                                                            : owner_of(handle, named, &owner);
    if (status == RLOCK_OK)
        status = begin(&made, sizeof(asking), handle, go_on_asking, NULL, callback);
    if (status != RLOCK_OK)
        return status;
    asking *self = made;
    self->what = what;
    self->asking.lock = self->on.lock;
    self->asking.op = &self->on.async.op;
    self->asking.owner = owner;
    rli_async_start(&self->on.async);
    return RLOCK_OK;
}

const rli_async_methods rli_single_async = {.acquire = acquire, .release = release, .force = force, .ask = ask};
