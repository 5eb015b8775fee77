/* A kind of lock: its scripts, its channel, and how its answers read. All else is shared. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_KIND_H
#define RLI_KIND_H

#include "locks/names.h"
#include "redis/call.h"

#include <stdint.h>

/* What acquire answered. */
typedef enum rli_grant {
    RLI_GRANTED,
    RLI_DENIED,     /* somebody else has it, for so many ms more (-1: unknown) */
    RLI_OUTER_LOST, /* the holds that this one was to be added to are gone */
    RLI_ODD_GRANT   /* no answer of that script */
} rli_grant;

typedef struct rli_kind {
    const char *name; /* as rlock_inspection has it */
    const char *channel_prefix;
    const rli_script *renew; /* KEYS: the names; ARGV: lease ms, their owners; a list of 1 and 0 */

    /* Each starts `call`; the texts outlive it. `count` is what the hold will have; `over` is the
     * owner of a session that is over and is replaced, or "". */
    void (*acquire)(rli_call *call, const rli_names *names, const char *owner, int64_t lease_ms, int count,
                    const char *over);
    void (*release)(rli_call *call, const rli_names *names, const char *owner, int64_t lease_ms, int count);
    void (*force)(rli_call *call, const rli_names *names);
    /* A list: PTTL (-2: not locked), this owner's hold count. */
    void (*state)(rli_call *call, const rli_names *names, const char *owner);

    rli_grant (*granted)(const redisReply *reply, int64_t *pttl_ms);
} rli_kind;

extern const rli_kind rli_kind_reentrant;

#endif
