/* Losses: what rlock_on_lost told, noted down. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/losses.h"

#include "tests/integration/support/stage.h"

#include <stdio.h>

void losses_init(losses *self)
{
    event_init(&self->came);
    self->count = 0;
}

void losses_await(losses *self, int count, int64_t ms)
{
    int64_t since_ms = now_ms();
    cr_assert(event_wait_count(&self->came, count, 30000), "told of %d", event_count(&self->came));
    assert_between(self->all[count - 1].at_ms - since_ms, INT64_MIN, at_most_ms(ms));
}

/* On the one thread that tells; the event's mutex passes it on to the test's. */
void losses_note(const rlock_lost_event *lost, void *arg)
{
    losses *self = arg;
    if (self->count < LOSSES_MAX) {
        loss *entry = &self->all[self->count++];
        *entry = (loss){lost->size, "", lost->owner, lost->named_owner, lost->hold_count, lost->reason,
                        now_ms(),   "", ""};
        snprintf(entry->name, sizeof entry->name, "%s", lost->name);
        snprintf(entry->permit, sizeof entry->permit, "%s", lost->permit ? lost->permit : "");
        snprintf(entry->said, sizeof entry->said, "%s", rlock_last_error());
    }
    event_set(&self->came);
}
