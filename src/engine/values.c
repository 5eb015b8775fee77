/* Values: what a group lock locks of its group, as the fields that stand for them on the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/values.h"

#include <stdlib.h>
#include <string.h>

rli_values *rli_values_new(size_t count)
{
    rli_values *values = malloc(sizeof *values + count * RLI_VALUE_FIELD);
    if (!values)
        return NULL;
    atomic_init(&values->references, 1);
    values->count = 0;
    return values;
}

/* docs/internals/wire.md, Group lock: the unpadded base64 of the hash. */
static void write_field(const unsigned char hash[RLI_HIGHWAY_HASH], char field[RLI_VALUE_FIELD])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < RLI_VALUE_FIELD; i++) {
        int bit = 6 * i, byte = bit / 8;
        unsigned pair = (unsigned)hash[byte] << 8 | (byte + 1 < RLI_HIGHWAY_HASH ? hash[byte + 1] : 0);
        field[i] = digits[pair >> (10 - bit % 8) & 63];
    }
}

void rli_values_put(rli_values *values, const void *bytes, size_t length)
{
    unsigned char hash[RLI_HIGHWAY_HASH];
    rli_highway_hash(bytes, length, hash);
    write_field(hash, values->fields + values->count++ * RLI_VALUE_FIELD);
}

static int compare(const void *one, const void *other)
{
    return memcmp(one, other, RLI_VALUE_FIELD);
}

void rli_values_close(rli_values *values)
{
    size_t kept = 0;
    qsort(values->fields, values->count, RLI_VALUE_FIELD, compare);
    for (size_t i = 0; i < values->count; i++) {
        const char *field = values->fields + i * RLI_VALUE_FIELD;
        if (kept == 0 || compare(field, values->fields + (kept - 1) * RLI_VALUE_FIELD) != 0)
            memmove(values->fields + kept++ * RLI_VALUE_FIELD, field, RLI_VALUE_FIELD);
    }
    values->count = kept;
    rli_highway_hash(values->fields, kept * RLI_VALUE_FIELD, values->digest);
}

bool rli_values_meet(const rli_values *one, const rli_values *other)
{
    size_t i = 0, k = 0;
    while (i < one->count && k < other->count) {
        int order = compare(one->fields + i * RLI_VALUE_FIELD, other->fields + k * RLI_VALUE_FIELD);
        if (order == 0)
            return true;
        i += order < 0;
        k += order > 0;
    }
    return false;
}

rli_values *rli_values_ref(rli_values *values)
{
    if (values)
        atomic_fetch_add_explicit(&values->references, 1, memory_order_relaxed);
    return values;
}

void rli_values_unref(rli_values *values)
{
    if (values && atomic_fetch_sub(&values->references, 1) == 1)
        free(values);
}
