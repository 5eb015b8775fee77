/* The keyspace that a model expects, and how the server's differs from it. What a model can't foretell
 * has labels: a wire owner, whose number it doesn't know, that of the session which it must be; a permit,
 * whose id it doesn't know, that of its grant. A set of permits counts as a key for each, `<set>/<label>`,
 * whose TTL is the permit's lease. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYSPACE_H
#define KEYSPACE_H

#include "tests/model/support/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LABEL 24
#define EXPECTED_KEYS 64

typedef struct expected_key {
    char text[512]; /* as a line of server_keyspace(), with labels; members of a hash in order */
    span end;       /* of its TTL, or SPAN_NEVER */
} expected_key;

typedef struct expected {
    expected_key keys[EXPECTED_KEYS];
    size_t count;
    /* The label whose wire owner may be new to the server; its first letter says the client. */
    char newest[LABEL];
    bool settles; /* something of it is done in the background, so it may take a moment */
} expected;

/* One more key; printf-like. */
void expect_key(expected *keys, span end, const char *format, ...);

/* Forgets which wire owner has which label. Clients come by letters: A, B, C… */
void keyspace_begin(const char *const *client_ids, size_t count);

/* The 16 bytes of a permit's id, as 32 hex digits, have this label from now on. */
void keyspace_call_permit(const char *hex, const char *label);

/* How the stage's server differs from what is expected, and still does after many looks if it settles; NULL: not at all.
 * What is expected holds until until_ms, in now_ms(). To be freed. */
char *keyspace_difference(expected *keys, int64_t until_ms);

#endif
