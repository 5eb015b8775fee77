/* Reads the text of a configuration file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/redisson_file/file.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far more than any real file has. libyaml takes seconds for as many opening brackets, and half an hour for a
 * megabyte of them. */
#define LONGEST ((size_t)64 << 10)

static rlock_status unreadable(const char *path)
{
    char shown[RLI_NAME_SHOWN], why[100] = "";
    int error = errno;
    const char *said = strerror_r(error, why, sizeof why);
    return rli_fail(RLOCK_INVALID, "the configuration file %s cannot be read: %s", rli_show_name(path, shown), said);
}

rlock_status rli_file_read(const char *path, char **text, size_t *length)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return unreadable(path);
    char shown[RLI_NAME_SHOWN], *all = malloc(LONGEST + 1);
    size_t got = all ? fread(all, 1, LONGEST + 1, file) : 0;
    rlock_status status = RLOCK_OK;
    if (!all)
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for the configuration file");
    else if (ferror(file))
        status = unreadable(path);
    else if (got > LONGEST)
        status = rli_fail(RLOCK_INVALID, "the configuration file %s has more than 64 kilobytes",
                          rli_show_name(path, shown));
    fclose(file);
    if (status != RLOCK_OK) {
        free(all);
        return status;
    }
    *text = all;
    *length = got;
    return RLOCK_OK;
}
