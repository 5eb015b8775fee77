/* Redisson's natMapper: where the client finds servers whose own addresses lead nowhere from here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NAT_H
#define RLI_NAT_H

#include <rlock/status.h>
#include <stddef.h>

typedef struct rli_nat_place {
    const char *host;
    size_t length;
    int port; /* 0: any; the port stays */
} rli_nat_place;

typedef struct rli_nat {
    struct rli_nat_pair {
        rli_nat_place from, to;
    } * pairs;
    size_t count;
} rli_nat;

/* Reads "10.0.0.1:7000=127.0.0.1:7001,10.0.0.2=host,[fd00::1]=[::1]". The text must outlive *nat.
 * RLOCK_OK; RLOCK_INVALID: what is wrong with it; RLOCK_NO_MEMORY. */
rlock_status rli_nat_read(rli_nat *nat, const char *text);
void rli_nat_free(rli_nat *nat);

/* Replaces an address by the one that it stands for; a pair with ports goes before one of hosts alone. */
void rli_nat_map(const rli_nat *nat, const char **host, size_t *length, int *port);

#endif
