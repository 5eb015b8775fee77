/* The scene of lanes: a master with its replicas, the proxy before it, and lanes of the library's inside
 * that the test drives itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_LANES_H
#define FAULT_LANES_H

#include "redis/pipeline/pipeline.h"
#include "redis/pipeline/pool.h"
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/actor.h"
#include "tests/support/fleet.h"

struct lanes {
    fleet *fleet;         /* NULL: the test has brought its own server */
    server *master;
    proxy *proxy;
    rli_settings settings;
    atomic_int replicas;  /* what the synced lane goes by */
    rli_pool pool;        /* its first lane is the plain one */
    rli_pipeline *plain, synced;
};
extern struct lanes lanes;

/* A master with so many replicas, and args for all (NULL: none). */
void lanes_open(int replicas, const char *const *args);
/* The same for a server that the test has started and will stop. */
void lanes_open_at(server *at);
void lanes_close(void);

#define LANE_TIMEOUT_MS 1000
#define LANE_SYNC_MS 500

/* For a test of what takes too long: an answer may take so long from now on, and a confirmation by the replicas;
 * otherwise both may take 20 s. Before the first call. */
void lanes_time_out(void);

/* One request. */
typedef struct lane_call {
    rli_pipeline *lane;
    const char *words[8];         /* ended by NULL */
    bool asking, unsynced;
    int64_t limit_ms;             /* the caller's deadline, from now on; 0: none */
    /* what became of it */
    rli_outcome outcome;
    rli_answer answer;            /* but for its reply, which is freed: */
    char text[128];               /* "OK", "3", "ERR …" */
    int64_t took_ms;
} lane_call;

/* The call as a whole, and as one that an actor does: actor_begin(actor, lane_run, &call). */
rlock_status lane_run(void *call);
/* Such a call with the words given, ended by NULL. */
lane_call lane_ask(rli_pipeline *lane, const char *word, ...) __attribute__((sentinel));

/* Fails the test unless it was answered with `text`. */
void assert_answered(const lane_call *call, const char *text);
/* And for one on the synced lane: by so many replicas, or RLI_SYNC_…. */
void assert_synced(const lane_call *call, const char *text, int synced);
const char *outcome_word(rli_outcome outcome);

/* The answer to a command on the fixture's own connection to the master, for a number. */
int64_t lanes_number(const char *key);

#endif
