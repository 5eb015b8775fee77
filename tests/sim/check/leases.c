/* Leases: what scripts of this library do to the times for which keys stand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/leases.h"

#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shorter by no more than this need not be told. */
#define SLIGHT_MS 1000
#define LEVELS 1000 /* that are looked at, of one reader */

static double before_score; /* of the permit whose lease is set, or that is given back */

static text word_of(const sim_run *run, size_t number)
{
    return (text){run->words[number].at, run->words[number].length};
}

static bool answered(const sim_run *run, const char *what)
{
    return run->answer.length >= strlen(what) && memcmp(run->answer.at, what, strlen(what)) == 0;
}

static double score_now(const host *at, const sim_run *run)
{
    char key[TEXT_SIZE];
    snprintf(key, sizeof key, "%.*s", (int)run->words[1].length, run->words[1].at);
    return wire_score(wire_value(at, key), word_of(run, 3));
}

void leases_begin(const host *at, const sim_run *run)
{
    bool one = run->name && (strcmp(run->name, "permit_semaphore/update_lease") == 0 ||
                             strcmp(run->name, "permit_semaphore/release") == 0);
    before_score = one && run->count > 3 ? score_now(at, run) : -1;
}

/* A permit that expires earlier may be waited for until then. */
static void check_permit(const leases_run *self)
{
    if (strcmp(self->script, "permit_semaphore/release") == 0) {
        int64_t late_ms = sim_server_now_us(self->at->server) / 1000 - (int64_t)before_score;
        if (before_score >= 0 && answered(self->run, ":1") && late_ms > 0)
            finding("%s took a permit of \"%s\" back that had ended %" PRId64 " ms before, and did not say so", self->script,
                    self->name, late_ms);
        return;
    }
    if (before_score < 0 || !answered(self->run, ":1") || score_now(self->at, self->run) >= before_score)
        return;
    if (wire_now.count == 0)
        finding("%s had a permit of \"%s\" expire earlier than before, and published nothing", self->script, self->name);
}

/* It was offered to a waiter, which was told; those that wait behind it ask by themselves. */
static bool is_offered(const leases_run *self)
{
    char channel[TEXT_SIZE];
    wire_channel(self->which, self->name, channel);
    for (int i = 0; i < wire_now.count; i++) {
        if (strncmp(wire_now.told[i].channel, channel, strlen(channel)) == 0 && wire_now.told[i].channel[strlen(channel)] == ':')
            return strcmp(self->script, "lock/release") == 0 || strcmp(self->script, "lock/handoff") == 0 ||
                   strcmp(self->script, "fair/release") == 0;
    }
    return false;
}

/* An exclusive lock that another owner has, or its own for a shorter lease, ends earlier than waiters were told. */
static void check_shortened(const leases_run *self, const wire_state *after)
{
    const wire_state *before = &wire_now.before;
    char channel[TEXT_SIZE];
    bool spins = strcmp(self->script, "lock/acquire") == 0 && self->run->count < self->run->keys + 5; /* no channel */
    if (spins || !before->lock || !after->lock || before->mode || after->mode || before->ends_ms < 0 || after->ends_ms < 0 ||
        after->ends_ms + SLIGHT_MS >= before->ends_ms || is_offered(self))
        return;
    wire_channel(self->which, self->name, channel);
    wire_must_tell(self->script, before, after, channel, "0");
}

static int64_t longest_level_ms(const leases_run *self, const entry *owner)
{
    int64_t longest_ms = -1;
    char count[24];
    snprintf(count, sizeof count, "%.*s", (int)owner->length, owner->bytes);
    for (int i = 1; i <= atoi(count) && i <= LEVELS; i++) {
        char key[2 * TEXT_SIZE];
        snprintf(key, sizeof key, "{%s}:%.*s:rwlock_timeout:%d", self->name, (int)owner->name_length, owner->name, i);
        const sim_value *level = wire_value(self->at, key);
        if (level && level->expires_ms > longest_ms)
            longest_ms = level->expires_ms;
    }
    return longest_ms;
}

/* Readers alone hold it: it stands for as long as the longest of their holds. */
static void check_left_to_readers(const leases_run *self, const wire_state *after, const char *answer)
{
    const sim_value *own = wire_value(self->at, self->name);
    int64_t longest_ms = -1;
    if (!own || own->type != VALUE_HASH || after->mode != 'r' || !answered(self->run, answer))
        return;
    for (const entry *one = table_next(&own->members, NULL); one; one = table_next(&own->members, one)) {
        int64_t level_ms = longest_level_ms(self, one);
        longest_ms = level_ms > longest_ms ? level_ms : longest_ms;
    }
    if (longest_ms >= 0 && after->ends_ms > longest_ms + 1)
        finding("%s left lock \"%s\" standing for %" PRId64 " ms longer than the longest of its holds", self->script,
                self->name, after->ends_ms - longest_ms);
}

/* Forcing the write side open leaves readers alone. */
static void check_write_force(const leases_run *self, const wire_state *after)
{
    if (wire_now.before.mode == 'r' && (!after->lock || !answered(self->run, ":0")))
        finding("%s forced lock \"%s\" open, which readers held", self->script, self->name);
}

static void check_raise(const leases_run *self)
{
    char key[TEXT_SIZE];
    int64_t stands, wanted;
    snprintf(key, sizeof key, "%.*s", (int)self->run->words[1].length, self->run->words[1].at);
    const sim_value *counter = wire_value(self->at, key);
    if (!answered(self->run, ":1") || !text_integer(word_of(self->run, 3), &wanted))
        return;
    bool is_number = counter && counter->type == VALUE_STRING &&
                     text_integer((text){counter->string.at, counter->string.length}, &stands);
    if (!is_number || stands < wanted)
        finding("%s answered that the token counter of \"%s\" is at %" PRId64 " or beyond; it is at %" PRId64, self->script,
                self->name, wanted, is_number ? stands : 0);
}

void leases_check(const leases_run *self, const wire_state *after)
{
    if (self->which == EXCLUSIVE)
        check_shortened(self, after);
    if (self->which == PERMIT_SEMAPHORES)
        check_permit(self);
    if (strcmp(self->script, "read/release") == 0)
        check_left_to_readers(self, after, ":0");
    if (strcmp(self->script, "write/release") == 0)
        check_left_to_readers(self, after, ":1");
    if (strcmp(self->script, "write/force") == 0)
        check_write_force(self, after);
    if (strcmp(self->script, "fenced/raise") == 0)
        check_raise(self);
}
