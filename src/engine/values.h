/* Values: what a group lock locks of its group, as the fields that stand for them on the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_VALUES_H
#define RLI_VALUES_H

#include "base/highway_hash.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RLI_VALUE_FIELD 22 /* characters: the base64 of a hash, without padding */

/* A set of values. It never changes, and is freed with the last reference. */
typedef struct rli_values {
    atomic_int references;
    size_t count;                           /* no value twice */
    unsigned char digest[RLI_HIGHWAY_HASH]; /* of the fields: other values have another */
    char fields[];                          /* RLI_VALUE_FIELD characters each, in their order; no end */
} rli_values;

/* Makes a set with room for `count` values, to be filled by rli_values_put and rli_values_close. One reference. NULL:
 * out of memory. */
rli_values *rli_values_new(size_t count);
/* Adds the value of these bytes. At most as often as there is room. */
void rli_values_put(rli_values *values, const void *bytes, size_t length);
/* Orders the values and drops those that are there twice. */
void rli_values_close(rli_values *values);

/* Whether a value is in both. */
bool rli_values_meet(const rli_values *one, const rli_values *other);

/* Take and drop a reference. NULL is allowed. */
rli_values *rli_values_ref(rli_values *values);
void rli_values_unref(rli_values *values);

#endif
