/* Reads the text of a configuration file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_FILE_H
#define RLI_FILE_H

#include <rlock/status.h>
#include <stddef.h>

/* Reads the whole file; the caller frees *text. RLOCK_OK; RLOCK_INVALID: the file cannot be read, or is
 * larger than 64 kilobytes; RLOCK_NO_MEMORY. */
rlock_status rli_file_read(const char *path, char **text, size_t *length);

#endif
