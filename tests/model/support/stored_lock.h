/* What a server keeps of one lock, and what its scripts make of that, as docs/internals/wire.md has it: a model of the
 * server's side alone, in which owners are labels. Redisson's scripts differ from ours in few things,
 * which stand here as `theirs`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORED_LOCK_H
#define STORED_LOCK_H

#include "tests/model/support/keyspace.h"
#include "tests/model/support/span.h"

#include <stdbool.h>
#include <stdint.h>

#define STORED_FIELDS 24

typedef enum lock_side { EXCLUSIVE, READ, WRITE } lock_side;

typedef struct stored_field {
    char label[LABEL];
    bool write; /* the writer's, <label>:write */
    int count;
} stored_field;

typedef struct stored_timeout {
    char label[LABEL];
    int level;
    span end;
} stored_timeout;

typedef struct stored_lock {
    lock_side mode;        /* of a lock that is there */
    stored_field fields[STORED_FIELDS];
    int field_count;  /* 0: no lock there */
    span end;
    stored_timeout timeouts[STORED_FIELDS]; /* of read holds; may outlive the lock */
    int timeout_count;
    int64_t token;    /* the counter of a fenced lock; 0: none */
} stored_lock;

typedef struct stored_request {
    lock_side side;
    bool theirs;       /* Redisson's script */
    bool fenced, fair;
    const char *label;
    span when;
    int64_t lease_ms;
    int count;          /* that the hold will have */
    int highest;        /* release of a read hold: the most that it had */
    const char *over;   /* acquire: a label whose field this one replaces, or "" */
    const char *writer; /* acquire of a read hold: the label of the same owner's write hold, or "" */
} stored_request;

typedef enum stored_answer { GRANTED, DENIED, OUTER_LOST, NOT_HELD, STILL_HELD, FREED } stored_answer;

stored_answer stored_acquire(stored_lock *lock, const stored_request *asked);
stored_answer stored_release(stored_lock *lock, const stored_request *asked);
bool stored_force(stored_lock *lock, lock_side side);
void stored_pass(stored_lock *lock, int64_t now_ms);
/* The earliest end of anything in it after now_ms. */
span stored_next_end(const stored_lock *lock, int64_t now_ms);

/* How often the label holds that side. */
int stored_count(const stored_lock *lock, lock_side side, const char *label);
bool stored_is_locked(const stored_lock *lock, lock_side side);

void stored_expect(const stored_lock *lock, const char *name, expected *keys);

#endif
