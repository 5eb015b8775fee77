/* Redisson address: a server's address as Redisson's file gives it, such as redis://password@host:6379. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REDISSON_ADDRESS_H
#define RLI_REDISSON_ADDRESS_H

#include "config/settings.h"

#include <stdbool.h>

typedef struct rli_redisson_address {
    char *url;       /* for rlock_config's addresses */
    char place[160]; /* for messages and comparisons: host:port, or a socket's path */
    bool tls;
    bool has_path; /* something follows the port, which Redisson ignores */
} rli_redisson_address;

/* Parses `text` and converts it to a URL whose scheme is that of `mode`. The caller frees address->url.
 * RLOCK_OK; RLOCK_INVALID: the message says what is wrong, without user and password; RLOCK_NO_MEMORY. */
rlock_status rli_redisson_address_read(rli_redisson_address *address, rli_mode mode, const char *text);

#endif
