/* Counted: permits of plain semaphores. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/counted.h"

#include "tests/sim/check/ledger.h"
#include "tests/sim/world/finding.h"

static struct {
    unsigned epoch; /* of the resource: foreign hands may make any number */
    int made, taken;
} all[16];

void counted_make(int resource, int count)
{
    all[resource].made += count;
}

void counted_take(int resource, int count, const char *who)
{
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
    all[resource].taken -= count;
}
