/* NAT map, Redisson's natMapper: replaces addresses of servers that this process cannot reach. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NAT_H
#define RLI_NAT_H

#include "base/host_port.h"

#include <rlock/status.h>
#include <stddef.h>

typedef struct rli_nat {
    struct rli_nat_pair {
        rli_host_port from, to; /* without a port: any port, which is not changed */
    } * pairs;
    size_t count;
} rli_nat;

/* Parses "10.0.0.1:7000=127.0.0.1:7001,10.0.0.2=host,[fd00::1]=[::1]". `text` must outlive *nat, which points
 * into it. RLOCK_OK; RLOCK_INVALID: the message says what is wrong; RLOCK_NO_MEMORY. */
rlock_status rli_nat_read(rli_nat *nat, const char *text);
void rli_nat_free(rli_nat *nat);

/* Replaces *host, *length and *port if the map has an entry for that address. An entry with a port takes
 * precedence over one without. The new host points into the map's text. */
void rli_nat_map(const rli_nat *nat, const char **host, size_t *length, int *port);

#endif
