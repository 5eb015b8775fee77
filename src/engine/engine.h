/* Engine: the state that all locks of one client share, and what is due when.
 *
 * The engine sends through its client's topology. It has no thread: the threads of callers and the
 * watchdog carry out what it decides. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ENGINE_H
#define RLI_ENGINE_H

#include "base/allowance.h"
#include "base/timer_heap.h"
#include "base/gate.h"
#include "base/table.h"
#include "config/settings.h"
#include "engine/permits_in_doubt.h"
#include "engine/renewed_permits.h"
#include "engine/cold_fields.h"
#include "engine/contended.h"
#include "engine/entry.h"
#include "engine/watch.h"
#include "redis/topology/topology.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct rli_engine {
    /* These four and the two functions never change. */
    const rli_settings *settings;
    const char *client_id;
    rli_gate *gate;
    rli_topology *topology;
    /* Ensures that the watchdog runs, which does what is on the timer heap when it is due. Called with the mutex
     * held.
     * RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED. */
    rlock_status (*attend)(rli_engine *engine);
    /* Goes on with async operations that nobody else goes on with. Called by the watchdog, without the mutex, each time
     * that it reads answers. Returns whether any are under way. */
    bool (*tend)(rli_engine *engine);

    pthread_mutex_t mutex; /* guards everything below; see rli_engine_lock */
    rli_wake_batch wakes;  /* threads that are woken when it is released */
    bool attended;         /* the watchdog runs, so `attend` need not be called */
    rli_table entries, sessions;
    rli_entry_group *groups; /* the entries of group locks */
    rli_waited_group *waited_groups;
    rli_cold_fields_pool cold_fields_pool;
    uint64_t last_number, last_queue_number;
    rli_allowance not_found; /* of holds that are released elsewhere (not_found.h) */
    /* Until when the client may be subscribed to an own channel for some lock (registry.h). */
    int64_t own_channels_until_ms;
    rli_contended contended;
    rli_missed missed[RLI_MISSED_SLOTS]; /* names share one by their hash */
    rli_timer_heap timers;
    /* The lost sessions, the oldest first, and how many there are. */
    rli_session *first_lost, *last_lost;
    int lost_count;
    /* The lost sessions that the reporter has yet to report. */
    rli_session *first_report, *last_report;
    bool reports_wanted;
    pthread_cond_t reports; /* signalled when there is one to report */
    int async_releases;     /* sessions whose last release has no known outcome yet */
    /* How many of their requests are with a pipeline, unanswered. */
    int posted;
    int not_given_back; /* how much of what is in doubt departure waits for (departure.h) */
    /* Signalled when async_releases or not_given_back drops to 0; uses CLOCK_MONOTONIC. */
    pthread_cond_t departed;
    /* When the watchdog next reads answers to async releases; RLI_NEVER: there are none to read. */
    int64_t collect_at_ms;
    /* While the client is being closed: until when close waits for those two. 0: it is not being closed. */
    int64_t closes_ms;
    rlock_cancel *hurry; /* fired then: ends what the watchdog waits for; NULL: the watchdog has not been started */
    bool departing;      /* the requests in doubt have been answered, so what is answered from now on was given back */
    rli_permits_in_doubt permits_in_doubt;
    rli_renewed_permits renewed_permits;
    rli_watch watch;
};

/* Initializes the engine. `settings`, `client_id`, `gate` and `topology` must outlive it. */
void rli_engine_init(rli_engine *engine, const rli_settings *settings, const char *client_id, rli_gate *gate,
                     rli_topology *topology, rlock_status (*attend)(rli_engine *engine),
                     bool (*tend)(rli_engine *engine));
/* Take and release the mutex. The threads that are unparked meanwhile are woken when it has been released, since they
 * need it first. */
void rli_engine_lock(rli_engine *engine);
void rli_engine_unlock(rli_engine *engine);
/* Waits for the condition with the mutex released, until_ms at most (RLI_NEVER: without limit). Returns false when that
 * has passed. `cond` uses CLOCK_MONOTONIC if there is a limit. */
bool rli_engine_await(rli_engine *engine, pthread_cond_t *cond, int64_t until_ms);

/* Frees every session and entry. No operation may be under way. */
void rli_engine_destroy(rli_engine *engine);

/* Schedules the watchdog to read the answer of an async release that is about to be sent. Mutex held. */
void rli_engine_collect_soon(rli_engine *engine);

#endif
