/* What a server keeps of one lock, and what its scripts make of that, as docs/internals/wire.md has it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/stored_lock.h"

#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

/* --- fields and timeout keys --- */

static stored_field *field_of(const stored_lock *self, const char *label, bool write)
{
    for (int i = 0; i < self->field_count; i++) {
        const stored_field *field = &self->fields[i];
        if (field->write == write && strcmp(field->label, label) == 0)
            return (stored_field *)field;
    }
    return NULL;
}

static void set_field(stored_lock *self, const char *label, bool write, int count)
{
    stored_field *field = field_of(self, label, write);
    if (!field) {
        cr_assert(self->field_count < STORED_FIELDS, "too many holders in a model");
        field = &self->fields[self->field_count++];
        *field = (stored_field){.write = write};
        memcpy(field->label, label, strlen(label) + 1);
    }
    field->count = count;
}

static void remove_field(stored_lock *self, stored_field *field)
{
    if (field)
        *field = self->fields[--self->field_count];
}

static stored_timeout *timeout_of(const stored_lock *self, const char *label, int level)
{
    for (int i = 0; i < self->timeout_count; i++) {
        const stored_timeout *timeout = &self->timeouts[i];
        if (timeout->level == level && strcmp(timeout->label, label) == 0)
            return (stored_timeout *)timeout;
    }
    return NULL;
}

/* One that a force left behind is never lowered by us; Redisson sets it anew. */
static void set_timeout(stored_lock *self, const char *label, int level, span end, bool theirs)
{
    stored_timeout *timeout = timeout_of(self, label, level);
    if (!timeout) {
        cr_assert(self->timeout_count < STORED_FIELDS, "too many read holds in a model");
        timeout = &self->timeouts[self->timeout_count++];
        *timeout = (stored_timeout){.level = level, .end = SPAN_PAST};
        memcpy(timeout->label, label, strlen(label) + 1);
    }
    timeout->end = theirs ? end : span_later(timeout->end, end);
}

static void remove_timeouts(stored_lock *self, const char *label, int from, int to)
{
    for (int level = from; level <= to; level++) {
        stored_timeout *timeout = timeout_of(self, label, level);
        if (timeout)
            *timeout = self->timeouts[--self->timeout_count];
    }
}

/* The last end of the holds that the fields speak of; SPAN_PAST: all are over. */
static span longest_hold(const stored_lock *self)
{
    span longest = SPAN_PAST;
    for (int i = 0; i < self->field_count; i++) {
        for (int level = 1; level <= self->fields[i].count; level++) {
            const stored_timeout *timeout = self->fields[i].write ? NULL : timeout_of(self, self->fields[i].label, level);
            if (timeout)
                longest = span_later(longest, timeout->end);
        }
    }
    return longest;
}

/* A writer's own reads, when it is gone. Redisson leaves them the writer's PTTL; we leave them what they
 * asked for, and nothing to those that are over. */
static void leave_to_reads(stored_lock *self, bool theirs)
{
    span longest = longest_hold(self);
    self->mode = READ;
    if (theirs)
        return;
    if (longest.most_ms == SPAN_PAST.most_ms)
        self->field_count = 0;
    self->end = longest;
}

/* Redisson sets the lease, we never lower it. */
static void give_lease(stored_lock *self, const stored_request *asked)
{
    span end = span_after(asked->when, asked->lease_ms);
    self->end = asked->theirs || self->field_count == 0 ? end : span_later(self->end, end);
}

/* --- acquire --- */

static stored_answer acquire_exclusive(stored_lock *self, const stored_request *asked)
{
    if (field_of(self, asked->over, false))
        self->field_count = 0;
    if (self->field_count > 0 && !field_of(self, asked->label, false))
        return asked->count > 1 ? OUTER_LOST : DENIED;
    if (self->field_count == 0 && asked->count > 1)
        return OUTER_LOST;
    give_lease(self, asked);
    self->mode = EXCLUSIVE;
    set_field(self, asked->label, false, asked->count);
    self->token += asked->fenced;
    return GRANTED;
}

static stored_answer acquire_read(stored_lock *self, const stored_request *asked)
{
    stored_field *over = field_of(self, asked->over, false);
    if (over) {
        remove_timeouts(self, asked->over, 1, over->count);
        remove_field(self, over);
    }
    int held = stored_count(self, READ, asked->label);
    if (asked->count > 1 && held == 0)
        return OUTER_LOST;
    if (self->field_count > 0 && self->mode == WRITE && !field_of(self, asked->writer, true))
        return DENIED;
    span end = span_after(asked->when, asked->lease_ms);
    if (self->field_count == 0) {
        self->mode = READ;
        self->end = end;
    }
    self->end = span_later(self->end, end);
    set_field(self, asked->label, false, held > asked->count ? held : asked->count);
    set_timeout(self, asked->label, asked->count, end, asked->theirs);
    return GRANTED;
}

static stored_answer acquire_write(stored_lock *self, const stored_request *asked)
{
    stored_field *over = field_of(self, asked->over, true);
    if (over) {
        remove_field(self, over);
        leave_to_reads(self, false);
    }
    stored_field *own = field_of(self, asked->label, true);
    if (self->field_count > 0 && !own)
        return asked->count > 1 ? OUTER_LOST : DENIED;
    if (self->field_count == 0 && asked->count > 1)
        return OUTER_LOST;
    if (own)
        self->end = span_after(self->end, asked->lease_ms);
    else
        self->end = span_after(asked->when, asked->lease_ms);
    self->mode = WRITE;
    set_field(self, asked->label, true, asked->count);
    return GRANTED;
}

stored_answer stored_acquire(stored_lock *self, const stored_request *asked)
{
    static stored_answer (*const acquires[])(stored_lock *, const stored_request *) = {
        [EXCLUSIVE] = acquire_exclusive, [READ] = acquire_read, [WRITE] = acquire_write};
    return acquires[asked->side](self, asked);
}

/* --- release --- */

static stored_answer release_exclusive(stored_lock *self, const stored_request *asked)
{
    if (asked->theirs && asked->fair && self->field_count == 0)
        return FREED; /* and the head of the queue is told */
    if (!field_of(self, asked->label, false))
        return NOT_HELD;
    if (asked->count > 0) {
        set_field(self, asked->label, false, asked->count);
        give_lease(self, asked);
        return STILL_HELD;
    }
    self->field_count = 0;
    return FREED;
}

static stored_answer release_read(stored_lock *self, const stored_request *asked)
{
    stored_field *own = field_of(self, asked->label, false);
    if (!own)
        return NOT_HELD;
    remove_timeouts(self, asked->label, asked->count + 1, asked->highest);
    if (asked->count > 0)
        own->count = asked->count;
    else
        remove_field(self, own);
    span longest = longest_hold(self);
    bool any = longest.most_ms != SPAN_PAST.most_ms;
    if (self->mode == WRITE) {
        if (any)
            self->end = asked->theirs ? longest : span_later(self->end, longest);
        return STILL_HELD;
    }
    if (any) {
        self->end = longest;
        return STILL_HELD;
    }
    self->field_count = 0;
    return FREED;
}

static stored_answer release_write(stored_lock *self, const stored_request *asked)
{
    stored_field *own = field_of(self, asked->label, true);
    if (!own)
        return NOT_HELD;
    if (asked->count > 0) {
        own->count = asked->count;
        give_lease(self, asked);
        return STILL_HELD;
    }
    remove_field(self, own);
    leave_to_reads(self, asked->theirs);
    return FREED;
}

stored_answer stored_release(stored_lock *self, const stored_request *asked)
{
    static stored_answer (*const releases[])(stored_lock *, const stored_request *) = {
        [EXCLUSIVE] = release_exclusive, [READ] = release_read, [WRITE] = release_write};
    return releases[asked->side](self, asked);
}

bool stored_force(stored_lock *self, lock_side side)
{
    bool locked = self->field_count > 0 && self->mode == side;
    if (locked)
        self->field_count = 0;
    return locked;
}

/* --- time --- */

void stored_pass(stored_lock *self, int64_t now_ms)
{
    if (span_is_past(self->end, now_ms))
        self->field_count = 0;
    for (int i = 0; i < self->timeout_count;) {
        if (span_is_past(self->timeouts[i].end, now_ms))
            self->timeouts[i] = self->timeouts[--self->timeout_count];
        else
            i++;
    }
}

static void sooner(span *next, span end, int64_t now_ms)
{
    if (end.most_ms > now_ms && end.least_ms < next->least_ms)
        *next = end;
}

span stored_next_end(const stored_lock *self, int64_t now_ms)
{
    span next = SPAN_NEVER;
    if (self->field_count > 0)
        sooner(&next, self->end, now_ms);
    for (int i = 0; i < self->timeout_count; i++)
        sooner(&next, self->timeouts[i].end, now_ms);
    return next;
}

/* --- questions --- */

int stored_count(const stored_lock *self, lock_side side, const char *label)
{
    const stored_field *field = field_of(self, label, side == WRITE);
    return field ? field->count : 0;
}

bool stored_is_locked(const stored_lock *self, lock_side side)
{
    if (self->field_count == 0 || side == self->mode)
        return self->field_count > 0;
    return side == READ && self->field_count > 1; /* the writer reads, too */
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

void stored_expect(const stored_lock *self, const char *name, expected *keys)
{
    char members[STORED_FIELDS + 1][LABEL + 24], text[400] = "";
    size_t count = 0, length = 0;
    for (int i = 0; i < self->field_count; i++) {
        const stored_field *field = &self->fields[i];
        snprintf(members[count++], sizeof members[0], "%s%s, %d", field->label, field->write ? ":write" : "",
                 field->count);
    }
    if (count && self->mode != EXCLUSIVE)
        snprintf(members[count++], sizeof members[0], "mode, %s", self->mode == READ ? "read" : "write");
    qsort(members, count, sizeof members[0], by_text);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? ", " : "", members[i]);
    if (count)
        expect_key(keys, self->end, "%s hash [%s]", name, text);
    for (int i = 0; i < self->timeout_count; i++)
        expect_key(keys, self->timeouts[i].end, "{%s}:%s:rwlock_timeout:%d string 1", name, self->timeouts[i].label,
                   self->timeouts[i].level);
    if (self->token)
        expect_key(keys, SPAN_NEVER, "redisson_lock_token:{%s} string %lld", name, (long long)self->token);
}
