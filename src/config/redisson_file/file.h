/* A configuration file's text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_FILE_H
#define RLI_FILE_H

#include <rlock/status.h>
#include <stddef.h>

/* Reads all of it; *text is to be freed. RLOCK_INVALID: it cannot be read, or has more than 64 kilobytes;
 * RLOCK_NO_MEMORY. */
rlock_status rli_file_read(const char *path, char **text, size_t *length);

#endif
