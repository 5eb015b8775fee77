/* Reporter: tells the program of lost holds, on a thread that renews nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/reporter.h"

#include "base/error.h"
#include "base/thread.h"

#include <string.h>

void rli_reporter_init(rli_reporter *reporter, rli_engine *engine)
{
    *reporter = (rli_reporter){.engine = engine};
    pthread_cond_init(&reporter->idle, NULL);
}

void rli_reporter_destroy(rli_reporter *reporter)
{
    pthread_cond_destroy(&reporter->idle);
}

static bool is_self(const rli_reporter *reporter)
{
    return reporter->running && pthread_equal(reporter->thread, pthread_self());
}

bool rli_reporter_is_self(rli_reporter *reporter)
{
    rli_engine *engine = reporter->engine;
    pthread_mutex_lock(&engine->mutex);
    bool self = is_self(reporter);
    pthread_mutex_unlock(&engine->mutex);
    return self;
}

/* Reports one loss. Mutex held on entry and return, not while the program's function runs. */
static void report(rli_reporter *reporter, rli_session *session)
{
    rli_engine *engine = reporter->engine;
    rli_owner owner = rli_session_owner(session);
    const char *prefix = engine->settings->name_prefix;
    rlock_lost_event event = {
        .size = sizeof event,
        .name = session->entry->name + (prefix ? strlen(prefix) : 0),
        .owner = owner.number,
        .named_owner = owner.named,
        .hold_count = session->reported_count,
        .reason = session->reason,
    };
    rlock_lost_fn *fn = reporter->fn;
    void *argument = reporter->argument;
    if (fn) {
        reporter->calling = true;
        reporter->call++;
        pthread_mutex_unlock(&engine->mutex);
        fn(&event, argument); /* `reporting` keeps the session and its name alive */
        pthread_mutex_lock(&engine->mutex);
        reporter->calling = false;
        pthread_cond_broadcast(&reporter->idle);
    }
    session->reporting = false;
    rli_session_settle(engine, session);
}

static void *run(void *argument)
{
    rli_reporter *reporter = argument;
    rli_engine *engine = reporter->engine;
    pthread_mutex_lock(&engine->mutex);
    while (!reporter->stopping) {
        rli_session *session = engine->first_report;
        if (session) {
            engine->first_report = session->next_report;
            if (!engine->first_report)
                engine->last_report = NULL;
            report(reporter, session);
        } else {
            pthread_cond_wait(&engine->reports, &engine->mutex);
        }
    }
    pthread_mutex_unlock(&engine->mutex);
    return NULL;
}

void rli_reporter_set(rli_reporter *reporter, rlock_lost_fn *fn, void *argument)
{
    rli_engine *engine = reporter->engine;
    pthread_mutex_lock(&engine->mutex);
    if (fn && !reporter->running && !reporter->stopping)
        reporter->running = rli_thread_start(&reporter->thread, "rlock-lost", run, reporter) == RLOCK_OK;
    reporter->fn = fn;
    reporter->argument = argument;
    engine->reports_wanted = fn && reporter->running;
    unsigned former = reporter->call; /* later calls are of the new function */
    while (reporter->calling && reporter->call == former && !is_self(reporter))
        pthread_cond_wait(&reporter->idle, &engine->mutex);
    pthread_mutex_unlock(&engine->mutex);
}

void rli_reporter_stop(rli_reporter *reporter)
{
    rli_engine *engine = reporter->engine;
    pthread_mutex_lock(&engine->mutex);
    bool running = reporter->running;
    reporter->stopping = true;
    engine->reports_wanted = false;
    pthread_cond_broadcast(&engine->reports);
    pthread_mutex_unlock(&engine->mutex);
    if (running)
        pthread_join(reporter->thread, NULL);
    pthread_mutex_lock(&engine->mutex);
    /* Another thread may get the ended one's id and ask whether it is the reporter. */
    reporter->running = false;
    pthread_mutex_unlock(&engine->mutex);
}
