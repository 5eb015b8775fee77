/* Group lock: the handle for some values of one group. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "engine/values.h"
#include "locks/single.h"
#include "locks/value_codec.h"

#include <stdlib.h>
#include <string.h>

/* Adds value number `index` of what the program gave. RLOCK_OK, RLOCK_INVALID, RLOCK_NO_MEMORY. */
typedef rlock_status add_fn(rli_values *values, rlock_codec codec, const void *given, size_t index);

static rlock_status add_bytes(rli_values *values, rlock_codec codec, const void *given, size_t index)
{
    const rlock_value *value = (const rlock_value *)given + index;
    (void)codec;
    if (!value->bytes && value->length > 0)
        return rli_fail(RLOCK_INVALID, "the bytes of value %zu are NULL", index + 1);
    rli_values_put(values, value->bytes ? value->bytes : "", value->length);
    return RLOCK_OK;
}

static rlock_status add_string(rli_values *values, rlock_codec codec, const void *given, size_t index)
{
    const char *text = ((const char *const *)given)[index];
    unsigned char own[256];
    rlock_status status = rli_codec_check_text(text);
    if (status != RLOCK_OK)
        return status;
    size_t length = rli_codec_string(codec, text, NULL);
    unsigned char *bytes = length > sizeof own ? malloc(length) : own;
    if (!bytes)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a value of %zu bytes", length);
    rli_codec_string(codec, text, bytes);
    rli_values_put(values, bytes, length);
    if (bytes != own)
        free(bytes);
    return RLOCK_OK;
}

static rlock_status add_long(rli_values *values, rlock_codec codec, const void *given, size_t index)
{
    unsigned char bytes[RLI_LONG_BYTES];
    rli_values_put(values, bytes, rli_codec_long(codec, ((const int64_t *)given)[index], bytes));
    return RLOCK_OK;
}

/* NULL: rlock_last_error() says why. */
static rli_values *gather(rlock_codec codec, const void *given, size_t n, add_fn *add)
{
    rlock_status status = rli_codec_check(codec);
    if (status == RLOCK_OK && (n < 1 || n > RLOCK_GROUP_VALUES_MAX))
        status = rli_fail(RLOCK_INVALID, "%zu values; a group lock has from 1 to %d", n, RLOCK_GROUP_VALUES_MAX);
    if (status == RLOCK_OK && !given)
        status = rli_fail(RLOCK_INVALID, "the values are NULL");
    rli_values *values = status == RLOCK_OK ? rli_values_new(n) : NULL;
    if (status == RLOCK_OK && !values)
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for %zu values", n);
    for (size_t i = 0; status == RLOCK_OK && i < n; i++)
        status = add(values, codec, given, i);
    if (status != RLOCK_OK) {
        rli_values_unref(values);
        return NULL;
    }
    rli_values_close(values);
    return values;
}

static rlock *make(rlock_client *client, const char *group, rlock_codec codec, const void *given, size_t n, add_fn *add)
{
    rlock *lock = rli_single_make(client, group, &rli_kind_group, NULL);
    if (!lock)
        return NULL;
    if (add == add_bytes || rli_codec_choose(&codec, client->settings.codec) == RLOCK_OK)
        rli_single_of(lock)->names.values = gather(codec, given, n, add);
    if (!rli_single_of(lock)->names.values) {
        rlock_free(lock);
        return NULL;
    }
    return lock;
}

rlock *rlock_get_group_lock(rlock_client *client, const char *group, const rlock_value *values, size_t n)
{
    return make(client, group, RLOCK_CODEC_STRING, values, n, add_bytes);
}

rlock *rlock_get_group_lock_of_strings(rlock_client *client, const char *group, rlock_codec codec,
                                       const char *const *texts, size_t n)
{
    return make(client, group, codec, texts, n, add_string);
}

rlock *rlock_get_group_lock_of_longs(rlock_client *client, const char *group, rlock_codec codec, const int64_t *numbers,
                                     size_t n)
{
    return make(client, group, codec, numbers, n, add_long);
}
