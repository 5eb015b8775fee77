/* Lookups: the addresses that a host's name stands for, asked for on threads of their own. getaddrinfo() can be neither
 * interrupted nor given a limit, and takes half a minute where the resolver is down. A caller waits for the lookup while
 * its own patience lasts, and leaves the lookup to its thread then. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LOOKUP_H
#define RLI_LOOKUP_H

#include "base/operation.h"

#include <netdb.h>
#include <stdbool.h>

typedef struct rli_lookup rli_lookup;

/* One caller's use of a lookup. It is not moved before rli_lookup_end. All zero: no lookup. */
typedef struct rli_lookup_use {
    rli_lookup *lookup;
    rli_turn turn;
} rli_lookup_use;

/* Whether a host is a name. An address in numbers needs no resolver. */
bool rli_lookup_is_name(const char *host);

/* Begins a lookup of `host`, with `port` in the addresses, or joins the one that is under way in this process. `parker` is
 * unparked when the lookup is done, which may be before the return. False: out of memory or threads; nothing was
 * begun. Any thread. */
bool rli_lookup_begin(rli_lookup_use *use, const char *host, int port, rli_parker *parker);
bool rli_lookup_is_done(const rli_lookup_use *use);
/* The addresses, once the lookup is done; they stay valid until rli_lookup_end. NULL: *why says why, in a text that stays
 * valid. */
const struct addrinfo *rli_lookup_found(const rli_lookup_use *use, const char **why);
/* Ends a use, whether or not the lookup is done. A use of no lookup is allowed. */
void rli_lookup_end(rli_lookup_use *use);

#endif
