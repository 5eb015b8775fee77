/* The ledger: who may rely on what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/ledger.h"

#include "tests/sim/program/run.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOURCES 16

static hold *holds;
static unsigned epochs[RESOURCES];
static int64_t voided_ns[RESOURCES];

hold *ledger_first(void)
{
    return holds;
}

hold *ledger_hold(int resource, side which, const owner *who)
{
    for (hold *one = holds; one; one = one->next) {
        if (one->resource == resource && one->side == which && one->owner.client == who->client &&
            one->owner.number == who->number)
            return one;
    }
    hold *fresh = calloc(1, sizeof *fresh);
    if (!fresh || resource >= RESOURCES)
        abort();
    *fresh = (hold){.next = holds, .resource = resource, .side = which, .owner = *who, .epoch = epochs[resource]};
    holds = fresh;
    return fresh;
}

static bool exclude(const hold *a, const hold *b)
{
    if (a->resource != b->resource || (a->owner.client == b->owner.client && a->owner.number == b->owner.number))
        return false;
    return a->side != PART_SIDE && (a->side != READ_SIDE || b->side != READ_SIDE);
}

static const char *side_word(side which)
{
    static const char *const words[] = {"", " for reading", " for writing", " in part"};
    return words[which];
}

static void check_alone(const hold *self)
{
    unsigned now = epochs[self->resource];
    if (self->epoch != now) /* it may have been taken away before others took it */
        return;
    for (const hold *other = holds; other; other = other->next) {
        if (!exclude(self, other) || other->claimed_until_ns <= world_now_ns() || other->epoch != now)
            continue;
        finding("two hold it: %s may rely on its hold%s for %.3f ms, and %s on its hold%s for %.3f ms", self->owner.title,
                side_word(self->side), (double)(self->claimed_until_ns - world_now_ns()) / 1e6, other->owner.title,
                side_word(other->side), (double)(other->claimed_until_ns - world_now_ns()) / 1e6);
    }
}

int64_t ledger_until_ns(validity by)
{
    /* The library counts whole milliseconds of its clock: the last of them has begun. */
    int64_t span_ns = by.ms > WORLD_NEVER / 4000000 ? WORLD_NEVER / 4 : (by.ms - 1) * 1000000;
    return by.asked_ns + span_ns - span_ns / 1000000 * by.rate_ppm;
}

void ledger_claim(hold *self, validity by)
{
    if (by.ms <= 0 || by.asked_ns <= self->dropped_ns) { /* another thread has given the owner's hold back since */
        self->claimed_until_ns = 0;
        return;
    }
    self->claim_late_ns = world_now_ns() - by.asked_ns;
    ledger_claim_until(self, ledger_until_ns(by));
}

void ledger_claim_until(hold *self, int64_t until_ns)
{
    self->claimed_until_ns = until_ns;
    if (self->claimed_until_ns > world_now_ns())
        check_alone(self);
}

void ledger_drop(hold *self)
{
    self->claimed_until_ns = 0;
    self->dropped_ns = world_now_ns();
    *self->kept_as = 0;
    for (hold *one = holds; one; one = one->next) {
        if (one->whole == self)
            ledger_drop(one);
    }
}

unsigned ledger_inherited(const hold *of, unsigned epoch)
{
    bool hands_over = strstr(run_of->clients[of->owner.client].options, "localHandOver=true");
    for (const hold *one = holds; one && hands_over; one = one->next) {
        if (one->resource == of->resource && one->owner.client == of->owner.client && one->dropped_ns > 0 &&
            (int)(one->epoch - epoch) < 0)
            epoch = one->epoch;
    }
    return epoch;
}

void ledger_void(int resource, const char *why)
{
    int first = resource < 0 ? 0 : resource, last = resource < 0 ? RESOURCES - 1 : resource;
    for (int i = first; i <= last; i++) {
        epochs[i]++;
        voided_ns[i] = world_now_ns();
    }
    timeline("world", "whoever holds %s relies on nothing from now on: %s", resource < 0 ? "anything" : "it", why);
}

static unsigned data_losses;
static int64_t data_lost_ns;

void ledger_void_data(void)
{
    data_losses++;
    data_lost_ns = world_now_ns();
    ledger_void(-1, "the server has lost its data");
}

unsigned ledger_data_losses(void)
{
    return data_losses;
}

int64_t ledger_data_lost_ns(void)
{
    return data_lost_ns;
}

static int64_t restarted_ns = -1;

void ledger_note_restart(void)
{
    restarted_ns = world_now_ns();
}

int64_t ledger_restart_ns(void)
{
    return restarted_ns;
}

/* Within that time all clients have used their connections, and know where a slot has gone. */
#define TOLD_NS INT64_C(1100000000)

bool ledger_is_new_to(int64_t began_ns)
{
    return ledger_restart_ns() >= 0 && began_ns - ledger_restart_ns() < TOLD_NS;
}

void ledger_describe(char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (const hold *one = holds; one && used < size; one = one->next) {
        const plan_object *object = &run_of->objects[one->resource];
        if (one->count > 0)
            used += (size_t)snprintf(text + used, size - used, "  %s holds %s \"%s\"%s %d times%s\n", one->owner.title,
                                     object_word(object->kind), object->name, side_word(one->side), one->count,
                                     one->lost_ns ? ", and lost it" : one->unsure ? ", as far as known" : "");
    }
}

unsigned ledger_epoch(int resource)
{
    return epochs[resource];
}

int64_t ledger_void_ns(int resource)
{
    return voided_ns[resource];
}
