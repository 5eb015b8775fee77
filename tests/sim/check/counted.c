/* Counted: permits of plain semaphores, and latches. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/counted.h"

#include "tests/sim/check/ledger.h"
#include "tests/sim/program/run.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <limits.h>

static struct {
    unsigned epoch; /* of the resource: foreign hands may make any number */
    unsigned lost;  /* the epoch up to which what was taken may have been forgotten by the server */
    int made, taken, wanted; /* wanted: by acquires under way */
    int64_t least, most; /* available, by what the calls have answered */
} all[16];

void counted_make(int resource, int count)
{
    all[resource].made += count;
}

/* What its owners have, a server that has lost writes may give to others as well. */
static void forget(int resource)
{
    if (all[resource].lost != ledger_epoch(resource))
        all[resource].made += (all[resource].taken > 0 ? all[resource].taken : 0) + all[resource].wanted;
    all[resource].lost = ledger_epoch(resource);
}

void counted_want(int resource, int count)
{
    forget(resource);
    all[resource].wanted += count;
}

void counted_take(int resource, int count, const char *who)
{
    forget(resource);
    all[resource].taken += count;
    if (all[resource].taken > all[resource].made && all[resource].epoch == ledger_epoch(resource))
        finding("%s has %d permits more, which makes %d of %d that there ever were", who, count, all[resource].taken,
                all[resource].made);
    if (all[resource].taken > all[resource].made) {
        all[resource].made = all[resource].taken;
        all[resource].epoch = ledger_epoch(resource);
    }
}

void counted_give(int resource, int count)
{
    forget(resource);
    all[resource].taken -= count;
}

/* Whether a call that answered this may have been carried out, or may be yet. */
static bool is_doubtful(rlock_status status)
{
    return status == RLOCK_UNKNOWN || status == RLOCK_CLOSED;
}

void counted_change(int resource, int by, rlock_status status)
{
    if (status == RLOCK_OK || (is_doubtful(status) && by < 0))
        all[resource].least += by;
    if (status == RLOCK_OK || (is_doubtful(status) && by > 0))
        all[resource].most += by;
}

void counted_drained(int resource, int count, rlock_status status)
{
    if (status == RLOCK_OK)
        counted_change(resource, -count, status);
    else if (is_doubtful(status))
        all[resource].least = INT_MIN;
}

void counted_check(int resource, int64_t have)
{
    if (ledger_epoch(resource) == 0 && (have < all[resource].least || have > all[resource].most))
        finding("semaphore \"%s\" has %" PRId64 " permits, and should have %" PRId64 " to %" PRId64,
                run_of->objects[resource].name, have, all[resource].least, all[resource].most);
}

/* --- latches --- */

static struct {
    bool set, unsure;   /* once; more than once, or perhaps */
    int64_t set_ns;
    int count, begun, done; /* calls that count down: begun at all; answered, and begun after it was set */
} latches[16];

void latch_is_set(int resource, int count, rlock_status status)
{
    if (is_doubtful(status) || (status == RLOCK_OK && latches[resource].set))
        latches[resource].unsure = true;
    if (status != RLOCK_OK)
        return;
    latches[resource].set = true;
    latches[resource].set_ns = world_now_ns();
    latches[resource].count = count;
}

void latch_goes_down(int resource)
{
    latches[resource].begun++;
}

void latch_went_down(int resource, int64_t began_ns, rlock_status status)
{
    if (status == RLOCK_OK && latches[resource].set && began_ns > latches[resource].set_ns)
        latches[resource].done++;
}

static bool is_known(int resource)
{
    return latches[resource].set && !latches[resource].unsure && ledger_epoch(resource) == 0;
}

void latch_is_open(int resource, int64_t began_ns, const char *who)
{
    if (is_known(resource) && began_ns > latches[resource].set_ns && latches[resource].begun < latches[resource].count)
        finding("%s was told that latch \"%s\" is open; its count was %d, and %d calls have counted down", who,
                run_of->objects[resource].name, latches[resource].count, latches[resource].begun);
}

void latch_check(int resource, int64_t count)
{
    int most = latches[resource].count - latches[resource].done, least = latches[resource].count - latches[resource].begun;
    most = most > 0 ? most : 0; /* what counts down an open latch changes nothing */
    least = least > 0 ? least : 0;
    if (is_known(resource) && (count < least || count > most))
        finding("latch \"%s\" was closed with %d; after %d calls that count down, %d of them answered, it has %" PRId64,
                run_of->objects[resource].name, latches[resource].count, latches[resource].begun, latches[resource].done, count);
}
