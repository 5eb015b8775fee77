/* A kind of lock: how it is had in C and what the Java agent calls it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIND_H
#define KIND_H

#include <rlock/rlock.h>
#include <stdbool.h>

typedef struct lock_kind {
    const char *java; /* as in Kinds.java */
    rlock *(*get)(rlock_client *client, const char *name);
    bool once;     /* its owner can't take it twice */
    bool spins;    /* its waiters listen to nothing */
    bool compound; /* made of others: it answers no questions and is not forced */
    const char *stays; /* the keyspace that is left when it is free, as a prefix of its one line; NULL: nothing */
} lock_kind;

#endif
