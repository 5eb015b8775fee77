/* Parity: the same steps by C and by Java, and what each left on the server and said there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARITY_H
#define PARITY_H

#include "tests/interop/support/party.h"

typedef struct parity_step {
    const char *noted;         /* the step's name in the notes, NULL: there it has none */
    void (*run)(bool in_java); /* ends when nothing of it is under way any more */
    enum { SAME_TTL, LONGER } ttl; /* LONGER: where Redisson lowers a TTL, C does not */
} parity_step;

/* Runs the steps by C and then by Java on the stage's server, which is empty before each. After each
 * step the keyspaces must be equal, also to that of the notes (those that are named there, in the
 * order of the section `section`), the TTLs near, and at the end what was subscribed to and
 * published. `section` NULL: there are no notes of it. `ours`: NULL, or where C is known to do otherwise. */
typedef struct parity_difference {
    const char *messages; /* what C says instead, as monitor_messaging() has it */
    bool number_a_name;   /* one owner has other numbers at other locks */
    bool sharded;         /* a cluster's messages: what is noted, with an S before it */
} parity_difference;
/* Removes the ids of clients from the channels that waiters of ours have beside Redisson's. */
void parity_hide_own_channels(char *messages);
void assert_parity(const char *section, const parity_step *steps, size_t count, const parity_difference *ours);
#define ASSERT_PARITY(section, steps, ours) \
    assert_parity(section, steps, sizeof(steps) / sizeof *(steps), ours)

#endif
