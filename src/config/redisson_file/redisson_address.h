/* An address as Redisson's file has it, such as redis://password@host:6379. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REDISSON_ADDRESS_H
#define RLI_REDISSON_ADDRESS_H

#include "config/settings.h"

#include <stdbool.h>

typedef struct rli_redisson_address {
    char *url;       /* for rlock_config's addresses */
    char place[160]; /* for messages and comparisons: host:port, or a socket's path */
    bool tls;
    bool has_path; /* something stood behind the port, which Redisson does not look at */
} rli_redisson_address;

/* Reads `text`; `mode` says the scheme of the URL. address->url is to be freed. RLOCK_INVALID: what is
 * wrong, without user and password; RLOCK_NO_MEMORY. */
rlock_status rli_redisson_address_read(rli_redisson_address *address, rli_mode mode, const char *text);

#endif
