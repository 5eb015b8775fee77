/* Taken: what an acquire of a multi lock has taken so far, and how long that is valid. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TAKEN_H
#define RLI_TAKEN_H

#include "locks/composite_machine.h"
#include "locks/row.h"

typedef struct rli_taken {
    const rli_composite_machine *on;
    const rli_row *row;
    size_t count;       /* the first ones of the row are taken */
    uint64_t *sessions; /* the number of each one's session; 0: it is a multi or red lock, and has many */
    /* All of them are valid until then, as far as was known at checked_ms, or when one was taken since. */
    int64_t valid_until_ms, checked_ms;
} rli_taken;

/* Nothing is taken yet. */
void rli_taken_begin(rli_taken *taken);
/* The next member of the row is, in the session with that number; 0: in many. */
void rli_taken_add(rli_taken *taken, uint64_t session_number);
/* The number of the session in which the i-th was taken; 0: in many. */
uint64_t rli_taken_session(const rli_taken *taken, size_t i);
/* The shortest time for which one of them is still valid: what was noted as each was taken, as long as that is longer
 * than `enough_ms`. The watchdog may have renewed them since. A hold that was lost meanwhile is seen at the end. */
int64_t rli_taken_valid_ms(rli_taken *taken, int64_t enough_ms);
/* The same, with a look at each of them now. */
int64_t rli_taken_check(rli_taken *taken);
/* The release of the i-th: of what was taken, and no other hold. It may be lost by now, and another call of the same
 * owner have taken the member by its name. */
rli_job rli_taken_release(const rli_taken *taken, size_t i);

#endif
