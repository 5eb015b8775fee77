/* Contended: names for which fair waiters of this client had to queue lately.
 *
 * The next waiter for such a name subscribes before it asks. Then it need not ask again after the subscription, which
 * it would have to because a message may have come before. A wrong guess costs one round trip. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONTENDED_H
#define RLI_CONTENDED_H

#include "engine/entry.h"

#include <stdbool.h>
#include <stdint.h>

enum { RLI_CONTENDED_SLOTS = 64 };

/* Names share a slot by their hash: the latest is remembered. */
typedef struct rli_contended {
    struct {
        uint32_t hash;
        int64_t until_ms;
    } slots[RLI_CONTENDED_SLOTS];
} rli_contended;

/* The engine's mutex is held. */
void rli_contended_note(rli_contended *contended, const rli_entry *entry);
void rli_contended_forget(rli_contended *contended, const rli_entry *entry);
bool rli_contended_has(const rli_contended *contended, const rli_entry *entry);

#endif
