/* A model of what one lock's owners know and hold. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/lock_model.h"

#include "tests/support/test.h"

#include <string.h>

/* What a handle of that kind asks the server about. */
static lock_side side_of(const kind *of)
{
    if (!of->both_sides)
        return EXCLUSIVE;
    return of->shared ? READ : WRITE;
}

/* --- sessions --- */

/* The owner's open one, or the latest that is over. */
static session *session_of(const lock_model *self, const move *step, bool write, bool over)
{
    for (int i = self->session_count - 1; i >= 0; i--) {
        const session *at = &self->sessions[i];
        if (at->client == step->client && at->owner == step->owner && at->write == write && at->over == over)
            return (session *)at;
    }
    return NULL;
}

static session *begin(lock_model *self, const session *made)
{
    cr_assert(self->session_count < MODEL_SESSIONS, "too many sessions in a model");
    self->sessions[self->session_count] = *made;
    return &self->sessions[self->session_count++];
}

static void end(lock_model *self, session *ended)
{
    int at = (int)(ended - self->sessions);
    memmove(ended, ended + 1, (size_t)(--self->session_count - at) * sizeof *ended);
}

/* A number of its own for each session; but the first read hold under a write hold has that one's. */
static void draw_label(lock_model *self, const move *step, lock_side side, session *writer, char label[static LABEL])
{
    if (side == READ && writer && !writer->lent) {
        writer->lent = true;
        memcpy(label, writer->label, LABEL);
        return;
    }
    snprintf(label, LABEL, "%c%d#%d", 'A' + step->client, step->owner, ++self->labels);
}

static int64_t lease_of(const move *step)
{
    return step->lease_ms == RLOCK_WATCHDOG ? MODEL_WATCHDOG_MS : step->lease_ms;
}

/* What a lease is worth to its owner: 1 % less, as clocks differ. */
static span valid_until(span from, int64_t lease_ms)
{
    return span_after(from, lease_ms - (lease_ms + 99) / 100);
}

/* The lease that the holds left ask for. */
static int64_t lease_left(const session *held)
{
    for (int i = 0; i < held->count; i++) {
        if (held->leases_ms[i] == RLOCK_WATCHDOG)
            return MODEL_WATCHDOG_MS;
    }
    return held->explicit_ms;
}

/* Its loss is known: of a read-write lock, whose key others may keep, its field is taken out in the background. */
static void lose(lock_model *self, session *lost, span when)
{
    if (lost->over)
        return;
    lost->over = true;
    if (lost->side == EXCLUSIVE)
        return;
    stored_request request = {.side = lost->side, .label = lost->label, .when = when, .highest = lost->highest};
    stored_release(&self->stored, &request);
    self->settles = true;
}

static void gain(lock_model *self, session *held, const move *step, lock_side side, span when)
{
    span until = valid_until(when, lease_of(step));
    int level = held->count++;
    held->leases_ms[level] = step->lease_ms;
    held->ends[level] = until;
    if (held->highest < held->count)
        held->highest = held->count;
    if (step->lease_ms > held->explicit_ms)
        held->explicit_ms = step->lease_ms;
    if (side == WRITE) { /* leases add up */
        span whole = self->stored.end;
        int64_t least_ms = whole.least_ms - when.most_ms, most_ms = whole.most_ms - when.least_ms;
        until = (span){valid_until(when, least_ms).least_ms, valid_until(when, most_ms).most_ms};
    }
    held->deadline = span_later(held->deadline, until);
    session *writer = side == READ ? session_of(self, step, true, false) : NULL;
    if (writer && self->stored.mode == WRITE) /* its key is kept as long */
        writer->deadline = span_later(writer->deadline, until);
    else if (writer) /* a lock that is read is not written */
        lose(self, writer, when);
}

static void drop(session *held, lock_side side)
{
    held->count--;
    if (side != READ || held->count == 0)
        return;
    held->deadline = SPAN_PAST;
    for (int i = 0; i < held->count; i++)
        held->deadline = span_later(held->deadline, held->ends[i]);
}

/* --- C's owners --- */

static outcome acquire(lock_model *self, const move *step, const kind *of, span when)
{
    lock_side side = side_of(of);
    session *held = session_of(self, step, side == WRITE, false), *over = session_of(self, step, side == WRITE, true);
    session *writer = session_of(self, step, true, false), made = {.deadline = SPAN_PAST};
    if (held && of->once)
        return OUTCOME(RLOCK_ALREADY_HELD);
    if (!held) {
        made = (session){.client = step->client, .owner = step->owner, .side = side, .write = side == WRITE, .deadline = SPAN_PAST};
        draw_label(self, step, side, writer, made.label);
        memcpy(self->newest, made.label, LABEL);
    }
    stored_request request = {
        .side = side,
        .fenced = of == &kind_fenced,
        .label = held ? held->label : made.label,
        .when = when,
        .lease_ms = lease_of(step),
        .count = held ? held->count + 1 : 1,
        .over = !held && over ? over->label : "",
        .writer = side == READ && writer ? writer->label : "",
    };
    switch (stored_acquire(&self->stored, &request)) {
    case GRANTED:
        break;
    case OUTER_LOST:
        lose(self, held, when);
        return OUTCOME(RLOCK_LOST);
    default:
        return OUTCOME(RLOCK_TIMEOUT);
    }
    if (!held)
        held = begin(self, &made);
    gain(self, held, step, side, when);
    if (request.fenced)
        held->token = self->stored.token;
    return step->operation == LOCK_TOKEN ? OUTCOME_OF(held->token) : OUTCOME(RLOCK_OK);
}

/* One told of its loss once for each hold. */
static outcome tell_of_loss(lock_model *self, session *over)
{
    if (--over->count == 0)
        end(self, over);
    return OUTCOME(RLOCK_LOST);
}

static outcome release(lock_model *self, const move *step, const kind *of, span when)
{
    lock_side side = side_of(of);
    session *held = session_of(self, step, side == WRITE, false), *over = session_of(self, step, side == WRITE, true);
    if (!held)
        return over ? tell_of_loss(self, over) : OUTCOME(RLOCK_NOT_OWNER);
    drop(held, side);
    stored_request request = {
        .side = side,
        .label = held->label,
        .when = when,
        .lease_ms = lease_left(held),
        .count = held->count,
        .highest = held->highest,
    };
    bool found = stored_release(&self->stored, &request) != NOT_HELD;
    if (held->count == 0)
        end(self, held);
    else if (!found)
        lose(self, held, when);
    else if (side != READ)
        held->deadline = span_later(held->deadline, valid_until(when, request.lease_ms));
    else /* the outer holds may have ended before this one */
        lock_model_pass(self, when.least_ms - SPAN_BLUR_MS);
    return OUTCOME(found ? RLOCK_OK : RLOCK_LOST);
}

/* The client's own holds are lost, of both sides; of others' it doesn't know. */
static outcome force(lock_model *self, const move *step, const kind *of, span when)
{
    bool freed = stored_force(&self->stored, side_of(of));
    for (int i = 0; i < self->session_count; i++) {
        if (self->sessions[i].client == step->client && (freed || !of->both_sides))
            lose(self, &self->sessions[i], when);
    }
    return OUTCOME_OF(freed);
}

/* How long it still was until then. */
static outcome bounds(span end, span when)
{
    return (outcome){RLOCK_OK, end.least_ms - when.most_ms - SPAN_BLUR_MS, end.most_ms - when.least_ms + SPAN_BLUR_MS};
}

static outcome valid_for(const session *held, span when)
{
    if (!held)
        return OUTCOME_OF(0);
    return bounds(held->deadline, when);
}

/* --- Redisson's threads: the owner on the wire is the thread, for ever --- */

static void their_label(const move *step, char label[static LABEL])
{
    snprintf(label, LABEL, "%c%d", 'A' + step->client, step->owner);
}

static outcome acquire_theirs(lock_model *self, const move *step, const kind *of, span when)
{
    lock_side side = side_of(of);
    their_label(step, self->newest);
    int held = stored_count(&self->stored, side, self->newest);
    if (of->once && held)
        return OUTCOME(RLOCK_ALREADY_HELD);
    stored_request request = {
        .side = side,
        .theirs = true,
        .fenced = of == &kind_fenced,
        .label = self->newest,
        .when = when,
        .lease_ms = lease_of(step),
        .count = held + 1,
        .over = "",
        .writer = self->newest,
    };
    if (stored_acquire(&self->stored, &request) != GRANTED)
        return OUTCOME(RLOCK_TIMEOUT);
    return step->operation == LOCK_TOKEN ? OUTCOME_OF(self->stored.token) : OUTCOME(RLOCK_OK);
}

static outcome release_theirs(lock_model *self, const move *step, const kind *of, span when)
{
    lock_side side = side_of(of);
    char label[LABEL];
    their_label(step, label);
    int held = stored_count(&self->stored, side, label);
    stored_request request = {
        .side = side,
        .theirs = true,
        .fair = of->fair,
        .label = label,
        .when = when,
        .lease_ms = MODEL_WATCHDOG_MS,
        .count = held - 1,
        .highest = held,
    };
    return OUTCOME(stored_release(&self->stored, &request) == NOT_HELD ? RLOCK_NOT_OWNER : RLOCK_OK);
}

/* --- what anybody does --- */

int lock_model_held(const lock_model *self, const move *step, const kind *of)
{
    char label[LABEL];
    if (self->theirs[step->client]) {
        their_label(step, label);
        return stored_count(&self->stored, side_of(of), label);
    }
    session *held = session_of(self, step, side_of(of) == WRITE, false);
    int stored = held ? stored_count(&self->stored, side_of(of), held->label) : 0;
    return held && held->count < stored ? held->count : stored;
}

/* Redisson says of either side of a read-write lock how long the key stands. */
static outcome time_to_live(const lock_model *self, const move *step, const kind *of, span when)
{
    lock_side side = self->theirs[step->client] ? self->stored.mode : side_of(of);
    if (!stored_is_locked(&self->stored, side))
        return OUTCOME_OF(-2);
    return bounds(self->stored.end, when);
}

static outcome get_token(const lock_model *self, const move *step)
{
    if (self->theirs[step->client]) /* what the counter says, whoever asks */
        return OUTCOME_OF(self->stored.token);
    const session *held = session_of(self, step, false, false);
    return held && held->token ? OUTCOME_OF(held->token) : OUTCOME(RLOCK_NOT_OWNER);
}

outcome lock_model_play(lock_model *self, const move *step, const kind *of, span when)
{
    bool theirs = self->theirs[step->client];
    lock_model_pass(self, when.least_ms - SPAN_BLUR_MS);
    self->newest[0] = 0;
    switch ((lock_operation)step->operation) {
    case LOCK_TRY:
    case LOCK_TOKEN:
    case LOCK_LOCK:
        return theirs ? acquire_theirs(self, step, of, when) : acquire(self, step, of, when);
    case LOCK_UNLOCK:
        return theirs ? release_theirs(self, step, of, when) : release(self, step, of, when);
    case LOCK_FORCE:
        return force(self, step, of, when);
    case LOCK_IS_LOCKED:
        return OUTCOME_OF(stored_is_locked(&self->stored, side_of(of)));
    case LOCK_IS_HELD:
        return OUTCOME_OF(lock_model_held(self, step, of) > 0);
    case LOCK_COUNT:
        return OUTCOME_OF(lock_model_held(self, step, of));
    case LOCK_TTL:
        return time_to_live(self, step, of, when);
    case LOCK_VALID_FOR:
        return valid_for(session_of(self, step, side_of(of) == WRITE, false), when);
    case LOCK_GET_TOKEN:
        return get_token(self, step);
    case LOCK_VANISH:
        self->stored.field_count = 0;
        return OUTCOME(RLOCK_OK);
    default:
        return OUTCOME(RLOCK_OK);
    }
}

/* --- time --- */

void lock_model_pass(lock_model *self, int64_t now_ms)
{
    stored_pass(&self->stored, now_ms);
    for (int i = 0; i < self->session_count; i++) {
        if (span_is_past(self->sessions[i].deadline, now_ms))
            lose(self, &self->sessions[i], (span){now_ms, now_ms});
    }
}

static void sooner(span *next, span end, int64_t now_ms)
{
    if (end.most_ms > now_ms && end.least_ms < next->least_ms)
        *next = end;
}

span lock_model_next_end(const lock_model *self, int64_t now_ms)
{
    span next = stored_next_end(&self->stored, now_ms);
    for (int i = 0; i < self->session_count; i++) {
        const session *at = &self->sessions[i];
        if (at->over)
            continue;
        sooner(&next, at->deadline, now_ms);
        for (int level = 0; !at->write && level < at->count; level++)
            sooner(&next, at->ends[level], now_ms);
    }
    return next;
}

void lock_model_expect(lock_model *self, const char *name, expected *keys)
{
    stored_expect(&self->stored, name, keys);
    memcpy(keys->newest, self->newest, LABEL);
    keys->settles = self->settles;
    self->settles = false; /* it has, once the keyspace is as expected */
}
