/* Holders: which sessions have an exclusive lock when scripts run, and what became of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/holders.h"

#include "tests/sim/check/wire_parts.h"
#include "tests/sim/program/loops.h"
#include "tests/sim/world/finding.h"

#include <string.h>

#define ID      36 /* so long is a client's id, with which the fields of its sessions begin */
#define HOLDERS 4  /* of an exclusive lock there is one; what is odd is not judged */
#define CLIENTS 16 /* with those of Redisson, and of forked processes */

static char before[HOLDERS][TEXT_SIZE]; /* when the present script began */
static int before_count;

/* When a script last took away a field of a session of that client. */
static struct {
    char id[ID + 1];
    int64_t ns;
} removed[PLAN_OBJECTS][CLIENTS];

void holders_before(const host *at, const char *name)
{
    const sim_value *own = wire_value(at, name);
    before_count = 0;
    if (!own || own->type != VALUE_HASH)
        return;
    for (const entry *one = table_next(&own->members, NULL); one && before_count < HOLDERS;
         one = table_next(&own->members, one)) {
        if (one->name_length > ID && one->name_length < TEXT_SIZE)
            snprintf(before[before_count++], TEXT_SIZE, "%.*s", (int)one->name_length, one->name);
    }
}

static unsigned fresh_takes[PLAN_OBJECTS]; /* by sessions that had no field */

unsigned holders_fresh_takes(int resource)
{
    return fresh_takes[resource];
}

static struct {
    unsigned count;
    int64_t ns;      /* when the last was */
    char id[ID + 1]; /* of its client */
} re_entries[PLAN_OBJECTS];

unsigned holders_re_entries(int resource)
{
    return re_entries[resource].count;
}

static bool was_holder(text session)
{
    bool was = false;
    for (int i = 0; i < before_count; i++)
        was |= text_is(session, text_of(before[i]));
    return was;
}

static void note(int resource, const char *holder)
{
    int to = 0;
    for (int i = 0; i < CLIENTS; i++) {
        if (strncmp(removed[resource][i].id, holder, ID) == 0) {
            to = i;
            break;
        }
        if (removed[resource][i].ns < removed[resource][to].ns)
            to = i;
    }
    snprintf(removed[resource][to].id, ID + 1, "%.*s", ID, holder);
    removed[resource][to].ns = world_now_ns();
}

void holders_after(const host *at, int resource, const char *name, const sim_run *run, bool takes)
{
    const sim_value *own = wire_value(at, name);
    bool known = takes && run->count > run->keys, again = known && was_holder(run->words[run->keys]);
    fresh_takes[resource] += known && !again;
    if (again) {
        re_entries[resource].count++;
        re_entries[resource].ns = world_now_ns();
        snprintf(re_entries[resource].id, ID + 1, "%.*s", ID, run->words[run->keys].at);
    }
    for (int i = 0; i < before_count; i++) {
        if (!own || own->type != VALUE_HASH || !table_find(&own->members, text_of(before[i])))
            note(resource, before[i]);
    }
    before_count = 0;
}

static bool is_of_such(const call *self)
{
    return run_of->objects[self->step->object].kind <= NON_REENTRANT_FAIR;
}

/* The library counts whole milliseconds of its clock. */
#define COUNTS_NS INT64_C(3000000)

/* Its hold had a lease alone, which had ended here, and not on the server yet, when the server was asked for more:
 * the new one is worth nothing either. */
void holders_check_re_entry(const call *self)
{
    const hold *held = self->hold;
    int64_t asked_ns = re_entries[held->resource].ns;
    bool known = is_of_such(self) && held->count > 0 && !held->lost_ns && !held->renewed &&
                 held->claimed_until_ns > self->began_ns;
    bool own = known && strcmp(re_entries[held->resource].id, rlock_client_id(self->worker->of->client)) == 0;
    int64_t ended_ns = held->claimed_until_ns + held->claim_late_ns + COUNTS_NS;
    bool others = fresh_takes[held->resource] != self->fresh_takes; /* who may have re-entered what they took */
    if (own && !others && re_entries[held->resource].count == self->re_entries + 1 && asked_ns > ended_ns)
        finding("%s was granted beside a hold whose lease had ended %.3f ms before the server was asked", self->title,
                (double)(asked_ns - held->claimed_until_ns) / 1e6);
}

/* Its last unlock asks a server, and waits for the answer. */
static bool is_asked_for(const call *self)
{
    const char *options = run_of->clients[self->worker->of->index].options;
    return is_of_such(self) && !strstr(options, "localHandOver=true") && !strstr(options, "unlockWaits=false");
}

/* Foreign hands may have taken it away between an attempt that did not reach the server and the next, which nobody
 * can tell from a release. That a server has lost its data between two attempts can be told, from its run id; not that
 * it had when the first one came. */
static bool may_be_by_others(const call *self)
{
    unsigned since = ledger_epoch(self->hold->resource) - self->epoch;
    if (since > 0 && ledger_data_lost_ns() < self->began_ns + 2000 * (run_of->latency_us + run_of->jitter_us))
        return true;
    return self->hold->epoch != self->epoch || since != ledger_data_losses() - self->data_losses ||
           run_has_odd_field(self->hold->resource);
}

void holders_check_given_back(const call *self)
{
    if (!is_asked_for(self) || may_be_by_others(self))
        return;
    const char *id = rlock_client_id(self->worker->of->client);
    for (int i = 0; i < CLIENTS; i++) {
        const char *own = removed[self->hold->resource][i].id;
        if (strncmp(own, id, ID) == 0 && removed[self->hold->resource][i].ns >= self->began_ns)
            return;
    }
    finding("%s answered that it was given back, and no script has done that", self->title);
}

/* The spare memory is enough for one call that gives back. A client that has only ever had this one hold makes only this
 * one such call, which therefore must not lack memory. */
void holders_check_memory(const call *self)
{
    bool only = self->hold->gains == 1 && strstr(self->message, "out of memory for the release of lock");
    for (const hold *other = ledger_first(); other && only; other = other->next)
        only = other == self->hold || other->owner.client != self->hold->owner.client || other->gains == 0;
    if (only && is_asked_for(self))
        finding("%s answered %s, and nothing else of its client gives back", self->title, self->message);
}

/* With localHandOver a hold goes from thread to thread for 10 ms at most, and then back to the server, where others wait. */
#define ROW_NS INT64_C(100000000)

static struct {
    int64_t script_ns; /* when the last script ran that has to do with it */
    int64_t since_ns;  /* when it was first granted without one */
    int gains;         /* since that script */
} rows[PLAN_OBJECTS];

void holders_check_row(const call *self)
{
    int resource = self->hold->resource;
    bool single = self->hold->side == EXCLUSIVE_SIDE && !object_is_composite(run_of->objects[resource].kind);
    bool told_late = loop_is_planned(self->worker->of->index); /* of what it was granted long ago */
    bool judged = run_is_calm() && single && !told_late;
    if (!judged || rows[resource].script_ns != wire_touched_ns(resource)) {
        rows[resource].script_ns = wire_touched_ns(resource);
        rows[resource].gains = 0;
    }
    if (++rows[resource].gains <= 2)
        rows[resource].since_ns = world_now_ns();
    else if (self->hold->count == 0 && world_now_ns() - rows[resource].since_ns > ROW_NS)
        finding("%s was granted by a thread of its own process, as %d calls before it, for %.3f ms now", self->title,
                rows[resource].gains - 2, (double)(world_now_ns() - rows[resource].since_ns) / 1e6);
}
