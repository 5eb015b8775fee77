/* The ledger: a file in which the members of a load of C and of Java note their turns; the agent's Ledger.java
 * has the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdatomic.h>
#include <stdint.h>

#define LEDGER_MEMBERS 12
#define LEDGER_TURNS 8192 /* of one member */

/* Times are CLOCK_MONOTONIC: before the lock call, after it, before the unlock call. */
typedef struct ledger_note {
    _Atomic int64_t asked_ns, had_ns, until_ns, name;
} ledger_note;

typedef struct ledger_page {
    _Atomic int64_t turns, locks_failed, unlocks_failed, unused[5];
    ledger_note notes[LEDGER_TURNS];
} ledger_page;

typedef struct ledger {
    _Atomic int64_t stop, stop_c, unused[6]; /* all; those of C, who look at this alone */
    ledger_page pages[LEDGER_MEMBERS];
} ledger;

#endif
