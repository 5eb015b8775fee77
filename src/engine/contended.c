/* Contended: names for which fair waiters of this client had to queue lately. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contended.h"

#include "base/clock.h"

#define REMEMBERED_MS 2000

void rli_contended_note(rli_contended *contended, const rli_entry *entry)
{
    uint32_t hash = rli_entry_hash(&entry->link);
    contended->slots[hash % RLI_CONTENDED_SLOTS].hash = hash;
    contended->slots[hash % RLI_CONTENDED_SLOTS].until_ms = rli_after_ms(REMEMBERED_MS);
}

bool rli_contended_has(const rli_contended *contended, const rli_entry *entry)
{
    uint32_t hash = rli_entry_hash(&entry->link), slot = hash % RLI_CONTENDED_SLOTS;
    return contended->slots[slot].hash == hash && rli_now_ms() < contended->slots[slot].until_ms;
}

void rli_contended_forget(rli_contended *contended, const rli_entry *entry)
{
    if (rli_contended_has(contended, entry))
        contended->slots[rli_entry_hash(&entry->link) % RLI_CONTENDED_SLOTS].until_ms = 0;
}
