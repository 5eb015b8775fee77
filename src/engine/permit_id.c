/* Permit id: 16 random bytes on the wire, 32 hex digits for the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/permit_id.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, RLI_PERMIT_ID);
}

rlock_status rli_permit_ids_make(char *ids, size_t count)
{
    char *all = ids;
    /* Always from the kernel, never from a buffer: a forked child must not repeat its parent's ids. */
    for (size_t left = count * RLI_PERMIT_ID; left > 0;) {
        ssize_t n = getrandom(ids, left, 0);
        if (n < 0 && errno != EINTR)
            return rli_fail(RLOCK_UNSUPPORTED, "could not get random bytes for permit ids: %s", strerror(errno));
        if (n > 0) {
            ids += n;
            left -= (size_t)n;
        }
    }
    /* The server keeps permits of one expiry in this order, so that adding and removing many takes half the time. */
    qsort(all, count, RLI_PERMIT_ID, compare);
    return RLOCK_OK;
}

void rli_permit_id_show(const char id[RLI_PERMIT_ID], char text[RLI_PERMIT_ID_TEXT + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < RLI_PERMIT_ID; i++) {
        *text++ = digits[(unsigned char)id[i] >> 4];
        *text++ = digits[(unsigned char)id[i] & 15];
    }
    *text = 0;
}

/* Returns -1 when it is no hex digit. */
static int value_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

bool rli_permit_id_read(const char *text, char id[RLI_PERMIT_ID])
{
    for (int i = 0; i < RLI_PERMIT_ID; i++, text += 2) {
        int high = value_of(text[0]);
        int low = high < 0 ? -1 : value_of(text[1]); /* do not read beyond the text's end */
        if (low < 0)
            return false;
        id[i] = (char)(high << 4 | low);
    }
    return *text == 0;
}
