/* The engine: who in this process holds or wants what, and what is due when. It sends through its client's topology, and
 * has no thread of its own: whoever calls it, and the watchdog, do what it decides. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ENGINE_H
#define RLI_ENGINE_H

#include "base/timer_heap.h"
#include "base/gate.h"
#include "base/table.h"
#include "config/settings.h"
#include "engine/permits_in_doubt.h"
#include "engine/cold_fields.h"
#include "engine/holds.h"
#include "redis/topology/topology.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct rli_engine {
    const rli_settings *settings; /* these five never change */
    const char *client_id;
    rli_gate *gate;
    rli_topology *topology;
    /* From now on somebody does what is on the timer heap when it is due; the mutex is held. RLOCK_OK, RLOCK_NO_MEMORY,
     * RLOCK_CLOSED. */
    rlock_status (*attend)(rli_engine *engine);

    pthread_mutex_t mutex; /* guards the rest */
    rli_table entries, sessions;
    rli_colds colds;
    uint64_t last_number, last_place;
    rli_timer_heap timers;
    rli_session *first_over, *last_over;
    int over_count;
    rli_session *first_report, *last_report;
    bool reports_wanted;
    pthread_cond_t reports;             /* there is one */
    int async_releases;                 /* sessions that have one */
    int posted;                         /* of these, requests whose answer nobody has read */
    pthread_cond_t async_releases_done; /* there are none any more; CLOCK_MONOTONIC */
    int64_t collect_at_ms;              /* when answers are read that nobody waits for; RLI_NEVER: there are none */
    int64_t closes_ms;                  /* when the client ends that is being closed; 0: it is not */
    rli_permits_in_doubt permits_in_doubt;
};

/* `settings` to `topology` outlive it. */
void rli_engine_init(rli_engine *engine, const rli_settings *settings, const char *client_id, rli_gate *gate,
                     rli_topology *topology, rlock_status (*attend)(rli_engine *engine));
void rli_engine_destroy(rli_engine *engine); /* frees every session and entry */

/* A release is about to be posted: has its answer read before long. Mutex held. */
void rli_engine_collect_soon(rli_engine *engine);

/* <client id>:<number> */
#define RLI_OWNER_TEXT 64
const char *rli_owner_text(const rli_engine *engine, uint64_t number, char text[RLI_OWNER_TEXT]);

#endif
