/* The reporter: tells the program of lost holds, on a thread that renews nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/reporter.h"

#include "base/error.h"
#include "base/thread.h"
#include "client/client.h"

#include <string.h>

void rli_reporter_init(rli_reporter *reporter, rlock_client *client)
{
    *reporter = (rli_reporter){.client = client};
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
    rli_holds *holds = &reporter->client->holds;
    pthread_mutex_lock(&holds->mutex);
    bool self = is_self(reporter);
    pthread_mutex_unlock(&holds->mutex);
    return self;
}

/* Mutex held on entry and return, not while the function runs. */
static void report(rli_reporter *reporter, rli_session *session)
{
    rli_holds *holds = &reporter->client->holds;
    rli_owner owner = rli_session_owner(session);
    const char *prefix = holds->settings->name_prefix;
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
        pthread_mutex_unlock(&holds->mutex);
        fn(&event, argument); /* the session keeps the name: it is marked as being reported */
        pthread_mutex_lock(&holds->mutex);
        reporter->calling = false;
        pthread_cond_broadcast(&reporter->idle);
    }
    session->reporting = false;
    rli_session_settle(holds, session);
}

static void *run(void *argument)
{
    rli_reporter *reporter = argument;
    rli_holds *holds = &reporter->client->holds;
    pthread_mutex_lock(&holds->mutex);
    while (!reporter->stopping) {
        rli_session *session = holds->first_report;
        if (session) {
            holds->first_report = session->next_report;
            if (!holds->first_report)
                holds->last_report = NULL;
            report(reporter, session);
        } else {
            pthread_cond_wait(&holds->reports, &holds->mutex);
        }
    }
    pthread_mutex_unlock(&holds->mutex);
    return NULL;
}

void rlock_on_lost(rlock_client *client, rlock_lost_fn *fn, void *arg)
{
    if (rli_client_check(client) != RLOCK_OK)
        return;
    rli_client_keep(client); /* another thread may close it meanwhile */
    rli_reporter *reporter = &client->reporter;
    rli_holds *holds = &client->holds;
    pthread_mutex_lock(&holds->mutex);
    if (fn && !reporter->running && !reporter->stopping)
        reporter->running = rli_thread_start(&reporter->thread, "rlock-lost", run, reporter) == RLOCK_OK;
    reporter->fn = fn;
    reporter->argument = arg;
    holds->reports_wanted = fn && reporter->running;
    unsigned former = reporter->call; /* a later call is the new function's */
    while (reporter->calling && reporter->call == former && !is_self(reporter))
        pthread_cond_wait(&reporter->idle, &holds->mutex);
    pthread_mutex_unlock(&holds->mutex);
    rli_client_release(client);
}

void rli_reporter_stop(rli_reporter *reporter)
{
    rli_holds *holds = &reporter->client->holds;
    pthread_mutex_lock(&holds->mutex);
    bool running = reporter->running;
    reporter->stopping = true;
    holds->reports_wanted = false;
    pthread_cond_broadcast(&holds->reports);
    pthread_mutex_unlock(&holds->mutex);
    if (running)
        pthread_join(reporter->thread, NULL);
    pthread_mutex_lock(&holds->mutex);
    reporter->running = false; /* another thread may have the ended one's id, and ask whether it is the reporter */
    pthread_mutex_unlock(&holds->mutex);
}
