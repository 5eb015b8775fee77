/* Job: what a call asks of a handle, and the machine that carries it out. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_JOB_H
#define RLI_JOB_H

#include "base/operation.h"
#include "engine/owner.h"

#include <rlock/lock.h>
#include <stddef.h>

typedef enum rli_job_kind {
    RLI_JOB_ACQUIRE,
    RLI_JOB_RELEASE,
    RLI_JOB_EXTEND,
    RLI_JOB_RAISE,      /* of a fenced lock: raises its token counter */
    RLI_JOB_FORCE,      /* the answer: whether it was locked */
    RLI_JOB_IS_LOCKED,  /* the answer: 1 or 0 */
    RLI_JOB_TTL,        /* the answer: the PTTL, -2: not locked */
    RLI_JOB_IS_HELD,    /* the answer: 1 or 0 */
    RLI_JOB_HOLD_COUNT, /* the answer: how often the owner holds it */
    RLI_JOB_KINDS
} rli_job_kind;

/* The set of job kinds that a handle knows has this bit for each. */
#define RLI_JOB_BIT(kind) (1u << (kind))

/* The arguments were checked: a lease is in its range. */
typedef struct rli_job {
    rli_job_kind kind;
    bool has_owner; /* `owner` acts (see rli_methods); else the one that the handle names, or the calling thread */
    rli_owner owner;
    bool non_reentrant; /* an acquire: RLOCK_ALREADY_HELD if the owner holds the lock already */
    int64_t wait_ms;    /* of an acquire */
    /* Of a single lock: the wait is for the owner's other calls and for the answer; once refused, the acquire answers
     * RLOCK_TIMEOUT. */
    bool asks_once;
    int64_t lease_ms; /* of an acquire; an extension makes the hold last for at least this long from now */
    /* An acquire waits for the answer to a request for at least that long, even if its wait ends sooner; RLI_NEVER: for
     * the configured timeout. A release or an extension waits for the answer for at most that long; RLI_NEVER: for the
     * configured attempts. If no answer to a release comes, the hold is over in this process, and is released again in
     * the background. */
    int64_t answer_ms;
    rlock_cancel *cancel; /* of an acquire; NULL: none */
    uint64_t *token;      /* receives the fencing token of an acquire; NULL: not wanted */
    /* Of a single or sharded lock: receives the number of the session in which an acquire has taken a hold; NULL: not
     * wanted. Other locks, which take holds in many sessions, leave it alone. */
    uint64_t *took;
    /* Of a single or sharded lock: a release gives back nothing but a hold of the session with that number, else it
     * answers RLOCK_NOT_OWNER; 0: of whichever session the owner has. */
    uint64_t only;
    /* Of a single lock, which is a part of a sharded lock: a release gives back nothing but a hold that the owner has
     * taken by the sharded lock, else it answers RLOCK_NOT_OWNER; an extension of what is not held tells of such a lost
     * hold alone. */
    bool sharded;
    uint64_t raised; /* what the counter is raised to */
} rli_job;

/* A job under way. */
typedef struct rli_machine {
    /* Goes on with it. RLI_WAITING: the operation has no thread and must wait; call it again when it was woken. Else
     * the status with which it has ended: from then on it needs no memory and no handle any more. */
    rlock_status (*go_on)(struct rli_machine *machine);
    int64_t answer; /* set with RLOCK_OK, of a job that has one */
} rli_machine;

/* The memory of a machine, and what lies behind it, is aligned to this. */
#define RLI_MACHINE_ALIGN       _Alignof(max_align_t)
#define RLI_MACHINE_ROOM(bytes) (((bytes) + RLI_MACHINE_ALIGN - 1) / RLI_MACHINE_ALIGN * RLI_MACHINE_ALIGN)
#define RLI_MACHINE_SIZE(type)  RLI_MACHINE_ROOM(sizeof(type))

#endif
