/* A plan: all that is decided before a run. Clients, what their threads call, what others do, and what goes wrong when.
 * The seed decides the rest. A plan can be written as text and read again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PLAN_CLIENTS 4
#define PLAN_OBJECTS 12
#define PLAN_THREADS 12
#define PLAN_STEPS 64
#define PLAN_FAULTS 24
#define PLAN_MEMBERS 5
#define PLAN_TEXT 256
#define PLAN_OWNERS 4 /* the thread itself, two that all threads of a client share, and a named one of its own */
#define PLAN_OWN_NAME 3

typedef enum topology_kind { SINGLE, REPLICATED, SENTINEL, CLUSTER, TOPOLOGIES } topology_kind;

typedef enum object_kind {
    REENTRANT, SPIN, FAIR, FENCED, NON_REENTRANT, NON_REENTRANT_FAIR, TOKEN_LOCK, SIGNAL_LOCK,
    GROUP, /* values of one group, one of which all owners want */
    READ, WRITE, MULTI, RED, SHARDED,
    SEMAPHORE, PERMITS, LATCH,
    GUARDED, /* a string that holders of the run's fenced locks write with rlock_fenced_set */
    FLIGHT,  /* a singleflight, of which each client's process has its own */
    OBJECT_KINDS
} object_kind;

typedef enum step_kind {
    PAUSE,       /* for pause_ms */
    LOCK,        /* wait_ms, lease_ms, cancel_ms, owner */
    TOKEN,       /* the same, and gets the token */
    UNLOCK,
    FORCE,
    IS_LOCKED, IS_HELD, COUNT, TTL, VALID_FOR, GET_TOKEN, INSPECT,
    WITHIN,      /* RLOCK_WITH around a pause */
    SEM_SET, SEM_ACQUIRE, SEM_RELEASE, SEM_ADD, SEM_DRAIN, SEM_AVAILABLE,
    PERMIT_SET, PERMIT_ACQUIRE, PERMIT_RELEASE, /* count above 1: of all at once, where it blocks */
    PERMIT_UPDATE, PERMIT_STATE,
    LATCH_SET, LATCH_DOWN, LATCH_AWAIT, LATCH_COUNT,
    GUARDED_SET, /* with the token that the thread got last */
    FLIGHT_DO,   /* key `count` % 2; if it loads, for pause_ms, and `count` / 2 is a load_end */
    LEAVE,       /* the thread ends, whatever it holds */
    CLOSE,       /* closes its client */
    FORK,        /* a child calls, and opens a client of its own */
    STARVE,      /* from its next allocation but `count` on, some fail */
    FORGET,      /* the loop of the client does not process for pause_ms */
    EXTEND,      /* lease_ms, owner */
    LISTEN,      /* a listener, whose function pauses for pause_ms, and does what `count`, bits of listen_way, says */
    OBJECT_ASK, OBJECT_CHANGE, /* of a semaphore or latch: `count` says what */
    LOOK,        /* for what there is: `count` says at what */
    HEAR_NO_MORE, /* the last listener of the thread is removed */
    STEP_KINDS
} step_kind;

typedef enum fault_kind {
    RESET_CONNECTION,  /* one of client `who`, or of anybody */
    SILENCE,           /* all that open connections have, for span_ms, in directions `count` */
    STOP_SERVER,       /* for span_ms */
    RESTART,           /* count 1: with its data */
    STOP_CLIENT,       /* `who`, for span_ms; count 1: suspended */
    REFUSE,            /* the server refuses connections for span_ms */
    SERVER_ERROR,      /* answers an error of kind `count` for span_ms */
    SCRIPTS_FLUSHED,
    KEY_DELETED, KEY_SHORTENED, KEY_FORCED, FIELD_ODD, ALL_DELETED, /* by foreign hands, of object `who` */
    CLIENTS_KILLED,
    FAILOVER,          /* to a replica that is `count` writes behind */
    REPLICAS_SILENT,   /* none confirms, for span_ms */
    SLOT_MOVES,        /* that of object `who`, in span_ms */
    NAME_CHANGES,      /* the server's name, or it takes span_ms to find out */
    MEMORY_SHORT,      /* one allocation of `count` + 1 fails, for span_ms */
    GARBAGE_PUBLISHED, /* on the channels of object `who` */
    KEY_PERSISTED, KEY_RENAMED, /* of object `who`; and named back after span_ms */
    KEY_TAKEN,         /* for span_ms it is of another type, or of another library's lock: `count` */
    QUEUE_ODD,         /* what nobody would put there is in the queue of object `who`, or is missing: `count` */
    HELPERS_DELETED,   /* the keys beside that of object `who` */
    SERVER_PAUSED,     /* CLIENT PAUSE for span_ms */
    OVERHEARD,         /* somebody subscribes to all channels by a pattern, for span_ms */
    FAULT_KINDS
} fault_kind;

/* How a load of a singleflight ends. */
typedef enum load_end {
    LOAD_ANSWERS,
    LOAD_HAS_NONE, /* no bytes */
    LOAD_FAILS,
    LOAD_DIES,     /* its thread ends */
    LOAD_ENDS
} load_end;

/* What a listener's function does, and of what. */
typedef enum listen_way {
    LISTEN_ASKS = 1, /* whether its lock is held */
    LISTEN_ADDS = 2, /* another listener */
    LISTEN_ENDS = 4, /* itself */
    LISTEN_OWN = 8   /* its key is one of the thread's own */
} listen_way;
/* How an async call is made, by a named owner. */
typedef enum async_way {
    ASYNC = 1,
    ASYNC_GOES_ON = 2,    /* the thread does not wait for its function… */
    ASYNC_GIVES_BACK = 4, /* …which gives back what was taken */
    ASYNC_IN_LOOP = 8,    /* it is begun by the loop's thread; a close: in a function */
    ASYNC_FREES = 16      /* its handle is freed at once */
} async_way;
/* What a step or a fault may wait for, of whatever object it is. */
typedef enum moment {
    NO_MOMENT,
    SCRIPT_TAKES, SCRIPT_GIVES_BACK, SCRIPT_RENEWS, /* a script that does so has run, and its answer is on the way */
    MESSAGE_SENT,    /* a message was published */
    CALL_TAKES, CALL_GIVES_BACK, /* a call that does so begins */
    MOMENTS
} moment;

#define MOMENT_MS 1000 /* for so long a fault waits for its moment */

typedef struct plan_client {
    int rate_ppm;
    bool reports; /* rlock_on_lost is set */
    char options[PLAN_TEXT];
} plan_client;

typedef struct plan_object {
    object_kind kind;
    char name[16];
    int members[PLAN_MEMBERS], member_count; /* of a multi, red or sharded lock */
} plan_object;

#define LEASE_RENEWED (-2)

typedef struct plan_step {
    step_kind kind;
    int object, owner, count;
    int64_t wait_ms, lease_ms; /* -1: for ever; renewed. LEASE_RENEWED: of a permit, which has no end otherwise */
    int64_t pause_ms, cancel_ms; /* -1: never */
    int async;                   /* bits of async_way; 0: it blocks */
    moment meets;     /* a pause or the time to cancel ends so long after it, if it comes before */
    int after_us;
} plan_step;

typedef struct plan_thread {
    int client;   /* -1: an actor that behaves as Redisson does */
    int step_count;
    plan_step steps[PLAN_STEPS];
} plan_thread;

typedef struct plan_fault {
    int64_t at_ms, span_ms; /* from half a second after the start on */
    fault_kind kind;
    int who, count;
    moment meets;      /* it begins so long after the first one from at_ms on, if that comes within MOMENT_MS */
    int after_us;
} plan_fault;

typedef struct plan {
    uint64_t seed;
    int period, changes, stalls; /* schedule */
    topology_kind topology;
    int version; /* of the servers: 62, 70, 72, 80 */
    int64_t latency_us, jitter_us;
    int splits;
    bool named; /* the server is known by a name */
    int client_count, object_count, thread_count, fault_count;
    plan_client clients[PLAN_CLIENTS];
    plan_object objects[PLAN_OBJECTS];
    plan_thread threads[PLAN_THREADS];
    plan_fault faults[PLAN_FAULTS];
} plan;

/* All that a seed decides before the run. */
void plan_draw(plan *plan, uint64_t seed);

void plan_write(const plan *plan, FILE *to);
/* False: *why says what is wrong with the text. */
bool plan_read(plan *plan, FILE *from, char why[static PLAN_TEXT]);
/* The same from a file; says on stderr why not. */
bool plan_read_file(plan *plan, const char *path);

const char *topology_word(topology_kind kind);
const char *object_word(object_kind kind);
const char *fault_word(fault_kind kind);
const char *step_word(step_kind kind);
bool step_is_expirable(step_kind kind); /* OBJECT_ASK or OBJECT_CHANGE */
const char *moment_word(moment kind);
bool object_is_lock(object_kind kind);
bool object_is_expirable(object_kind kind); /* a semaphore, a permit-expirable semaphore or a latch */
/* The name that programs give it: without what a signal-list lock's key has before it. */
const char *object_called(const plan_object *object);
bool object_is_composite(object_kind kind);

#endif
