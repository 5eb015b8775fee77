/* Lookups: resolving a host name on its own thread.
 *
 * getaddrinfo() can neither be interrupted nor limited in time, and takes half a minute when the resolver is down. A
 * caller waits while its own patience lasts, then leaves the lookup to its thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LOOKUP_H
#define RLI_LOOKUP_H

#include "base/operation.h"

#include <netdb.h>
#include <stdbool.h>

typedef struct rli_lookup rli_lookup;

/* One caller's use of a lookup. It must not move before rli_lookup_end. All zero: no lookup. */
typedef struct rli_lookup_use {
    rli_lookup *lookup;
    rli_turn turn;
} rli_lookup_use;

/* Starts a lookup of `host` (the resulting addresses have `port`), or joins one under way in this process. `parker` is
 * unparked when the lookup is done, possibly before this returns. A numeric address is done on return, without an
 * unpark. End it with rli_lookup_end. False: out of memory or threads; nothing was started. Any thread. */
bool rli_lookup_begin(rli_lookup_use *use, const char *host, int port, rli_parker *parker);
/* Whether the lookup is done. */
bool rli_lookup_is_done(const rli_lookup_use *use);
/* The addresses, once the lookup is done; valid until rli_lookup_end. NULL: the lookup failed and *why has the reason,
 * in static text or from strerror. */
const struct addrinfo *rli_lookup_found(const rli_lookup_use *use, const char **why);
/* Ends a use, whether or not the lookup is done. A use without a lookup is allowed. */
void rli_lookup_end(rli_lookup_use *use);

#endif
