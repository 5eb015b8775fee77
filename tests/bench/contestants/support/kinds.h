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
    rlock *(*lock)(rlock_client *client, const char *name); /* NULL: a semaphore, or a singleflight */
    bool permits;  /* that is one with permit ids */
    bool writes;   /* its holder writes a guarded string */
    bool loads;    /* a singleflight, which has no server */
} bench_kind;

/* The kind called `name`; NULL: there is none, which is trouble(). */
const bench_kind *kind_named(const char *name);

/* A handle, on a semaphore with one permit that is made where there is none; NULL: trouble(). */
bench_object *object_open(const bench_kind *kind, rlock_client *client, const char *name);
void object_close(bench_object *object);

/* Waits for it as long as it takes, and gives it back. False: trouble(). */
bool object_take(bench_object *object);
bool object_give(bench_object *object);

#endif
