/* Reporter: tells the program of lost holds, on a thread that renews nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/reporter.h"

#include "base/error.h"
#include "base/thread.h"
#include "engine/holds.h"
#include "engine/kinds/permit.h"

#include <string.h>
#include <unistd.h>

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
    rli_engine_lock(engine);
    bool self = is_self(reporter);
    rli_engine_unlock(engine);
    return self;
}

/* Calls the program's function. Mutex held on entry and return, not while it runs. */
static void tell(rli_reporter *reporter, const rlock_lost_event *event)
{
    rlock_lost_fn *fn = reporter->fn;
    void *argument = reporter->argument;
    if (!fn)
        return;
    reporter->calling = true;
    reporter->call++;
    rli_engine_unlock(reporter->engine);
    fn(event, argument);
    if (rli_gate_is_forked(reporter->engine->gate))
        _exit(0); /* the function has forked: the child has nothing to go on with, and no exit handlers of its own */
    rli_engine_lock(reporter->engine);
    reporter->calling = false;
    pthread_cond_broadcast(&reporter->idle);
}

/* Returns the name without the prefixes that the program did not give. */
static const char *own_name(const rli_reporter *reporter, const rli_naming *naming, const char *name)
{
    const char *prefixes[] = {naming->name_prefix, reporter->engine->settings->name_prefix};
    return name + (prefixes[0] ? strlen(prefixes[0]) : 0) + (prefixes[1] ? strlen(prefixes[1]) : 0);
}

/* What rlock_last_error() says while the program's function runs. */
static void word(rlock_lost_reason reason, rli_refusal refused)
{
    if (reason == RLOCK_LOST_REFUSED)
        (void)rli_fail(RLOCK_LOST, "the server refused to renew it: %s", rli_refusal_words(refused));
}

/* Reports one loss. Mutex held on entry and return, not meanwhile: `reporting` keeps the session and its name alive. */
static void report(rli_reporter *reporter, rli_session *session)
{
    rli_engine *engine = reporter->engine;
    rli_owner owner = rli_session_owner(session);
    rlock_lost_event event = {
        .size = sizeof event,
        .name = own_name(reporter, &session->kind->naming, session->entry->name),
        .owner = owner.number,
        .named_owner = owner.named,
        .hold_count = session->reported_count,
        .reason = session->reason,
    };
    word(session->reason, session->refused);
    tell(reporter, &event);
    session->reporting = false;
    rli_session_settle(engine, session);
}

static void report_permit(rli_reporter *reporter, rli_renewed_permit *permit)
{
    char id[RLI_PERMIT_ID_TEXT + 1];
    rli_permit_id_show(permit->id, id);
    word(permit->reason, permit->refused);
    tell(reporter, &(rlock_lost_event){.size = sizeof(rlock_lost_event),
                                       .name = own_name(reporter, &rli_permit_naming, rli_renewed_permit_name(permit)),
                                       .hold_count = 1,
                                       .reason = permit->reason,
                                       .permit = id});
    rli_renewed_permit_free(permit);
}

static void *run(void *argument)
{
    rli_reporter *reporter = argument;
    rli_engine *engine = reporter->engine;
    rli_engine_lock(engine);
    while (!reporter->stopping) {
        rli_session *session = engine->first_report;
        rli_renewed_permit *permit = rli_renewed_permits_take_lost(&engine->renewed_permits);
        if (permit) {
            report_permit(reporter, permit);
        } else if (session) {
            engine->first_report = session->next_report;
            if (!engine->first_report)
                engine->last_report = NULL;
            report(reporter, session);
        } else {
            (void)rli_engine_await(engine, &engine->reports, RLI_NEVER);
        }
    }
    rli_engine_unlock(engine);
    return NULL;
}

static rlock_status start(rli_reporter *reporter)
{
    if (reporter->stopping)
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    if (reporter->running)
        return RLOCK_OK;
    rlock_status status = rli_thread_start(&reporter->thread, "rlock-lost", run, reporter);
    reporter->running = status == RLOCK_OK;
    return status;
}

rlock_status rli_reporter_set(rli_reporter *reporter, rlock_lost_fn *fn, void *argument)
{
    rli_engine *engine = reporter->engine;
    rli_engine_lock(engine);
    rlock_status status = fn ? start(reporter) : RLOCK_OK;
    reporter->fn = fn;
    reporter->argument = argument;
    engine->reports_wanted = fn && reporter->running;
    unsigned former = reporter->call; /* later calls are of the new function */
    while (reporter->calling && reporter->call == former && !is_self(reporter))
        (void)rli_engine_await(engine, &reporter->idle, RLI_NEVER);
    rli_engine_unlock(engine);
    return status;
}

void rli_reporter_stop(rli_reporter *reporter)
{
    rli_engine *engine = reporter->engine;
    rli_engine_lock(engine);
    bool running = reporter->running;
    reporter->stopping = true;
    engine->reports_wanted = false;
    pthread_cond_broadcast(&engine->reports);
    rli_engine_unlock(engine);
    if (running)
        pthread_join(reporter->thread, NULL);
    rli_engine_lock(engine);
    /* Another thread may get the ended one's id and ask whether it is the reporter. */
    reporter->running = false;
    rli_engine_unlock(engine);
}
