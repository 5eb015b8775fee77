/* The scene of pipelines: a master with its replicas, the proxy before it, and pipelines of the library's inside
 * that the test drives itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PIPELINES_H
#define FAULT_PIPELINES_H

#include "redis/pipeline/pipeline.h"
#include "redis/pipeline/pool.h"
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/actor.h"
#include "tests/support/fleet.h"

struct pipelines {
    fleet *fleet;         /* NULL: the test has brought its own server */
    server *master;
    proxy *proxy;
    rli_settings settings;
    atomic_int replicas;  /* what the synced pipeline goes by */
    rli_pool pool;        /* its first pipeline is the plain one */
    rli_pipeline *plain, synced;
};
extern struct pipelines pipelines;

/* A master with so many replicas, and args for all (NULL: none). */
void pipelines_open(int replicas, const char *const *args);
/* The same for a server that the test has started and will stop. */
void pipelines_open_at(server *at);
void pipelines_close(void);

#define PIPELINE_TIMEOUT_MS 1000
#define PIPELINE_SYNC_MS 500

/* For a test of what takes too long: an answer may take so long from now on, and a confirmation by the replicas;
 * otherwise both may take 20 s. Before the first call. */
void pipelines_time_out(void);

/* One request. */
typedef struct pipeline_call {
    rli_pipeline *pipeline;
    const char *words[8];         /* ended by NULL */
    bool asking, unsynced;
    int64_t limit_ms;             /* the caller's deadline, from now on; 0: none */
    /* what became of it */
    rli_outcome outcome;
    rli_answer answer;            /* but for its reply, which is freed: */
    char text[128];               /* "OK", "3", "ERR …" */
    int64_t took_ms;
} pipeline_call;

/* The call as a whole, and as one that an actor does: actor_begin(actor, pipeline_run, &call). */
rlock_status pipeline_run(void *call);
/* Such a call with the words given, ended by NULL. */
pipeline_call pipeline_ask(rli_pipeline *pipeline, const char *word, ...) __attribute__((sentinel));

/* Fails the test unless it was answered with `text`. */
void assert_answered(const pipeline_call *call, const char *text);
/* And for one on the synced pipeline: by so many replicas, or RLI_SYNC_…. */
void assert_synced(const pipeline_call *call, const char *text, int synced);
const char *outcome_word(rli_outcome outcome);

/* The answer to a command on the fixture's own connection to the master, for a number. */
int64_t pipelines_number(const char *key);

#endif
