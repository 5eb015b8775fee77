/* Facts: what a real Redisson left behind, step by step, as noted in tests/interop/golden/. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FACTS_H
#define FACTS_H

#include <stddef.h>
#include <stdint.h>

#define FACT_KEYS 8

typedef struct fact {
    char *step;
    char *keys;                 /* as without_owners(server_keyspace()) would have it */
    int64_t pttl_ms[FACT_KEYS]; /* of each key */
    size_t key_count;
} fact;

typedef struct facts {
    fact steps[16];
    size_t count;
    char *messages; /* as without_owners(monitor_messaging()) would have them */
} facts;

/* The section called `section` of the file; fails the test when there is none. */
facts *facts_read(const char *section);
void facts_free(facts *facts);

/* The text with its wire owners, "<client id>:<number>", numbered as they come: OWNER1, OWNER2…,
 * and what no two runs share hidden: epoch times (TIME; none stays as it is) and permit ids (ID);
 * to be freed. Two programs' keyspaces are equal when these texts are. */
char *without_owners(const char *keyspace);

#endif
