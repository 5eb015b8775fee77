/* The kinds of object that are measured, and one turn on each through the public interface. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_KINDS_H
#define BENCH_KINDS_H

#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct bench_object bench_object;

typedef struct bench_kind {
    const char *name;
    int requests;  /* of one turn */
    int keys_left; /* on the server, for each name, after any number of turns */
    bool spins;    /* its waiters ask again and again */
    const char *held_as; /* the kind whose hold its waiters wait for; NULL: its own */
    rlock *(*lock)(rlock_client *client, const char *name); /* NULL: a semaphore */
    bool permits;  /* that is one with permit ids */
} bench_kind;

extern const bench_kind kinds[];
extern const int kinds_count;
/* The kind called `name`; exits the program when there is none. */
const bench_kind *kind_named(const char *name);

/* A handle, on a semaphore with one permit that is made where there is none. Exits the program when
 * it is not to be had. */
bench_object *object_open(const bench_kind *kind, rlock_client *client, const char *name);
void object_close(bench_object *object);
const char *object_name(const bench_object *object);

/* Waits for it as long as it takes, and gives it back. A failure is told on stderr. */
bool object_take(bench_object *object);
bool object_give(bench_object *object);

#endif
