/* Structs that carry their own size, so that programs built with other versions of the headers can pass them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"

#include "base/error.h"

#include <stdbool.h>
#include <string.h>

/* No version's struct is larger. A larger size is uninitialized memory, and reading that far would be unsafe. */
#define MOST 4096

static bool is_zero(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i])
            return false;
    }
    return true;
}

rlock_status rli_sized_read(void *full, const void *given, const rli_sized *sized)
{
    size_t size, known = sized->known;
    if (!given)
        return rli_fail(RLOCK_INVALID, "%s must not be NULL; start from %s", sized->what, sized->start);
    memcpy(&size, given, sizeof size);
    if (size < sized->first || size > MOST || size % _Alignof(size_t))
        return rli_fail(RLOCK_INVALID, "%s->size is %zu, not %zu; start from %s", sized->what, size, known,
                        sized->start);
    if (size > known && !is_zero((const char *)given + known, size - known))
        return rli_fail(RLOCK_INVALID,
                        "%s->size is %zu, and a field after the %zu bytes that this librlock knows is set: the "
                        "program was built for a newer librlock; install that",
                        sized->what, size, known);
    memcpy(full, given, size < known ? size : known);
    return RLOCK_OK;
}
