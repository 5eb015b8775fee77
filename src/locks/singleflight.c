/* Singleflight: one load for all callers in this process that ask for a key at a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/singleflight.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/operation.h"
#include "base/sized.h"
#include "base/table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_SIZE 512

struct rlock_loaded {
    atomic_int shares;
    void *bytes;
    size_t length;
};

/* How far the load of a flight is. */
typedef enum phase {
    LOADING,
    ABANDONED, /* its thread has ended; one of those that wait goes on with it */
    DONE       /* no longer in the table: who comes now begins another */
} phase;

/* One load, and all who wait for it. The mutex of the object guards it. */
typedef struct flight {
    rli_link link;
    phase phase;
    pthread_t loader; /* in LOADING */
    int callers;      /* the loader, and those that wait; the last one frees it */
    rli_turn *waiters;
    rlock_status status;
    rlock_loaded *loaded; /* the flight's own share; NULL: there are no bytes */
    char message[MESSAGE_SIZE];
    char key[];
} flight;

struct rlock_singleflight {
    rli_gate gate;
    pthread_mutex_t mutex;
    rli_table flights;
};

/* --- what was loaded --- */

/* Takes the bytes over. NULL: out of memory; they are freed. */
static rlock_loaded *make_loaded(void *bytes, size_t length)
{
    rlock_loaded *loaded = malloc(sizeof *loaded);
    if (!loaded) {
        free(bytes);
        return NULL;
    }
    *loaded = (rlock_loaded){.bytes = bytes, .length = length};
    atomic_init(&loaded->shares, 1);
    return loaded;
}

const void *rlock_loaded_bytes(const rlock_loaded *loaded, size_t *length)
{
    if (length)
        *length = loaded ? loaded->length : 0;
    return loaded ? loaded->bytes : NULL;
}

void rlock_loaded_free(rlock_loaded *loaded)
{
    if (!loaded || atomic_fetch_sub(&loaded->shares, 1) > 1)
        return;
    free(loaded->bytes);
    free(loaded);
}

/* --- the object --- */

static uint32_t hash_of(const rli_link *link)
{
    const flight *of = RLI_ITEM(const flight, (rli_link *)(uintptr_t)link, link);
    return rli_hash(of->key, strlen(of->key), 0);
}

static void end(rli_gate *gate)
{
    rlock_singleflight *self = RLI_ITEM(rlock_singleflight, gate, gate);
    rli_table_free(&self->flights);
    pthread_mutex_destroy(&self->mutex);
    rli_gate_destroy(&self->gate);
    free(self);
}

rlock_singleflight *rlock_singleflight_new(void)
{
    rlock_singleflight *self = calloc(1, sizeof *self);
    if (!self) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a singleflight");
        return NULL;
    }
    rli_gate_init(&self->gate, end);
    pthread_mutex_init(&self->mutex, NULL);
    self->flights.hash = hash_of;
    return self;
}

void rlock_singleflight_free(rlock_singleflight *flights)
{
    if (!flights || rli_gate_is_forked(&flights->gate))
        return;
    rli_gate_close(&flights->gate);
    rli_gate_unref(&flights->gate);
}

/* --- flights; mutex held --- */

static flight *find(const rlock_singleflight *self, const char *key)
{
    rli_link *link = rli_table_chain(&self->flights, rli_hash(key, strlen(key), 0));
    while (link && strcmp(RLI_ITEM(flight, link, link)->key, key) != 0)
        link = link->next;
    return link ? RLI_ITEM(flight, link, link) : NULL;
}

static flight *begin(rlock_singleflight *self, const char *key)
{
    size_t length = strlen(key);
    flight *fresh = calloc(1, sizeof *fresh + length + 1);
    if (!fresh)
        return NULL;
    memcpy(fresh->key, key, length + 1);
    fresh->loader = pthread_self();
    fresh->callers = 1;
    if (rli_table_add(&self->flights, &fresh->link))
        return fresh;
    free(fresh);
    return NULL;
}

/* A caller has what it came for, or comes for it no more. */
static void leave(rlock_singleflight *self, flight *of)
{
    if (--of->callers > 0)
        return;
    if (of->phase != DONE)
        rli_table_remove(&self->flights, &of->link);
    rlock_loaded_free(of->loaded);
    free(of);
}

static rlock_status take(flight *of, rlock_loaded **loaded)
{
    *loaded = of->loaded;
    if (of->loaded)
        atomic_fetch_add(&of->loaded->shares, 1);
    return of->status == RLOCK_OK ? RLOCK_OK : rli_fail_text(of->status, of->message);
}

/* --- loading --- */

typedef struct loading {
    rlock_singleflight *self;
    flight *of;
} loading;

/* The thread ends in the middle of its load. */
static void abandon(void *argument)
{
    const loading *by = argument;
    rlock_singleflight *self = by->self;
    if (rli_gate_is_forked(&self->gate))
        return;
    pthread_mutex_lock(&self->mutex);
    by->of->phase = ABANDONED;
    rli_turn_wake_all(by->of->waiters);
    leave(self, by->of);
    pthread_mutex_unlock(&self->mutex);
    rli_gate_unref(&self->gate);
}

static void note_message(flight *of)
{
    const char *said = rlock_last_error();
    if (*said)
        snprintf(of->message, MESSAGE_SIZE, "%s", said);
    else
        snprintf(of->message, MESSAGE_SIZE, "the load of \"%.100s\" failed: %s", of->key, rlock_strstatus(of->status));
}

/* Loads without the mutex, which it has on return. False: the load has forked, and this is the child, which may not
 * touch the mutex. */
static bool load_now(rlock_singleflight *self, flight *of, rlock_load_fn *load, void *arg)
{
    loading by = {self, of};
    void *bytes = NULL;
    size_t length = 0;
    rlock_status status;
    rli_fail(RLOCK_OK, "%s", ""); /* what it says of an error is its own */
    pthread_cleanup_push(abandon, &by);
    status = load(of->key, arg, &bytes, &length);
    pthread_cleanup_pop(0);
    if (rli_gate_is_forked(&self->gate)) {
        free(bytes);
        return false;
    }
    rlock_loaded *loaded = bytes ? make_loaded(bytes, length) : NULL;
    if (bytes && !loaded)
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for what was loaded");
    pthread_mutex_lock(&self->mutex);
    of->status = status;
    of->loaded = loaded;
    if (status != RLOCK_OK)
        note_message(of);
    of->phase = DONE;
    rli_table_remove(&self->flights, &of->link);
    rli_turn_wake_all(of->waiters);
    return true;
}

/* --- waiting --- */

static rlock_status say_closed(rlock_status status)
{
    return status == RLOCK_CLOSED ? rli_fail(RLOCK_CLOSED, "the singleflight was freed") : status;
}

/* Waits until the load has an answer, or has nobody who does it. Mutex held, but not while it sleeps. */
static rlock_status await(rlock_singleflight *self, flight *of, rli_operation *op, int64_t until_ms)
{
    rlock_status status = RLOCK_OK;
    while (of->phase == LOADING && (status = say_closed(rli_operation_check(op))) == RLOCK_OK) {
        if (rli_now_ms() >= until_ms)
            return rli_fail(RLOCK_TIMEOUT, "another caller did not load \"%.100s\" in time", of->key);
        rli_turn_join(&of->waiters, &op->turn);
        pthread_mutex_unlock(&self->mutex);
        rli_operation_sleep(op, until_ms);
        pthread_mutex_lock(&self->mutex);
        rli_turn_leave(&of->waiters, &op->turn);
    }
    return status;
}

static rlock_status wait_for(rlock_singleflight *self, flight *of, const rlock_singleflight_options *options)
{
    rli_operation op;
    /* A loader that has ended leaves its id to whoever the system gives it to. */
    if (of->phase == LOADING && pthread_equal(of->loader, pthread_self()))
        return rli_fail(RLOCK_INVALID,
                        "this thread is already loading \"%.100s\"; a load function must not ask for "
                        "its own key",
                        of->key);
    rlock_status status = say_closed(rli_operation_begin(&op, &self->gate, options->cancel));
    if (status != RLOCK_OK)
        return status;
    int64_t until_ms = options->wait_ms > 0 ? rli_after_ms(options->wait_ms) : rli_now_ms();
    status = await(self, of, &op, until_ms);
    rli_operation_end(&op);
    return status;
}

/* --- the call --- */

static rlock_status say_forked(void)
{
    return rli_fail(RLOCK_FORKED, "the singleflight was made by the parent process; make another after fork()");
}

static rlock_status check(const rlock_singleflight *self, const char *key, const rlock_singleflight_options *options,
                          rlock_load_fn *load, rlock_loaded **loaded, rlock_singleflight_options *full)
{
    static const rli_sized sized = RLI_SIZED(rlock_singleflight_options, cancel, "singleflight's options",
                                             "RLOCK_SINGLEFLIGHT_OPTIONS_INIT");
    if (loaded)
        *loaded = NULL;
    if (!self || !key || !load || !loaded)
        return rli_fail(RLOCK_INVALID, "%s is NULL",
                        !self   ? "the singleflight"
                        : !key  ? "the key"
                        : !load ? "the load function"
                                : "the out-parameter");
    *full = (rlock_singleflight_options)RLOCK_SINGLEFLIGHT_OPTIONS_INIT;
    rlock_status status = options ? rli_sized_read(full, options, &sized) : RLOCK_OK;
    return status == RLOCK_OK && rli_gate_is_forked(&self->gate) ? say_forked() : status;
}

rlock_status rlock_singleflight_do(rlock_singleflight *flights, const char *key,
                                   const rlock_singleflight_options *options, rlock_load_fn *load, void *arg,
                                   rlock_loaded **loaded)
{
    rlock_singleflight_options full;
    rlock_status status = check(flights, key, options, load, loaded, &full);
    if (status != RLOCK_OK)
        return status;
    rli_gate_ref(&flights->gate);
    pthread_mutex_lock(&flights->mutex);
    flight *of = find(flights, key);
    bool loads = !of;
    if (of) {
        of->callers++;
        status = wait_for(flights, of, &full);
        loads = status == RLOCK_OK && of->phase == ABANDONED;
    } else if (!(of = begin(flights, key))) {
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a load");
    }
    if (of && loads) {
        of->phase = LOADING;
        of->loader = pthread_self();
        pthread_mutex_unlock(&flights->mutex);
        if (!load_now(flights, of, load, arg))
            return say_forked();
    }
    if (status == RLOCK_OK)
        status = take(of, loaded);
    if (of)
        leave(flights, of);
    pthread_mutex_unlock(&flights->mutex);
    rli_gate_unref(&flights->gate);
    return status;
}
