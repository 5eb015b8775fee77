/* Kinds: the locks of one interface, for suites that are stamped out per kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KINDS_H
#define KINDS_H

#include "redis/script.h"

#include <rlock/rlock.h>
#include <stdbool.h>

typedef struct kind {
    const char *name;
    rlock *(*get)(rlock_client *client, const char *name); /* a handle to be freed */
    bool shared;         /* several owners may hold it at once */
    bool once;           /* its owner can't take it twice */
    bool fair;           /* waiters queue on the server, each with a channel of its own */
    bool both_sides;     /* of a read-write lock */
    const char *channel; /* what its channel begins with; NULL: it publishes nothing and hears nothing */
    const rli_script *acquire, *release, *force;
    const char *before;  /* what its key has before the name; NULL: nothing */
    bool grouped;        /* the hash has the values of a group; each of its holds has these fields */
    const char *field;   /* what its field in the hash has after the owner; NULL: it is a string, its owner */
} kind;

extern const kind kind_reentrant, kind_spin, kind_fenced, kind_read, kind_write, kind_non_reentrant, kind_fair,
    kind_non_reentrant_fair, kind_token, kind_signal, kind_group;
#define KINDS 11
extern const kind *const all_kinds[KINDS];

/* A group lock of these values, one a character, by StringCodec; kept until stage_close. */
rlock *group_of(rlock_client *client, const char *group, const char *values);

/* CALL(claim, kind's name) for each kind: what stamps tests out. */
#define FOR_EACH_KIND(CALL, claim)                                                                 \
    CALL(claim, reentrant) CALL(claim, spin) CALL(claim, fenced) CALL(claim, read)                 \
    CALL(claim, write) CALL(claim, non_reentrant) CALL(claim, fair) CALL(claim, non_reentrant_fair)         \
    CALL(claim, token) CALL(claim, signal) CALL(claim, group)

/* A test of the suite for each kind, named `<kind>_<claim>`; its body follows and has `of`. */
#define KIND_TEST_(claim, of_kind)                                                                 \
    Test(KIND_SUITE, of_kind##_##claim)                                                            \
    {                                                                                              \
        claim(&kind_##of_kind);                                                                    \
    }
#define KIND_TIMED_TEST_(claim, of_kind)                                                           \
    TimedTest(KIND_SUITE, of_kind##_##claim)                                                       \
    {                                                                                              \
        claim(&kind_##of_kind);                                                                    \
    }
#define KIND_TEST(claim)                                                                           \
    static void claim(const kind *of);                                                             \
    FOR_EACH_KIND(KIND_TEST_, claim)                                                               \
    static void claim(const kind *of)
#define KIND_TIMED_TEST(claim)                                                                     \
    static void claim(const kind *of);                                                             \
    FOR_EACH_KIND(KIND_TIMED_TEST_, claim)                                                         \
    static void claim(const kind *of)

#define KIND_REAL_TEST_(claim, of_kind)                                                            \
    RealTest(KIND_SUITE, of_kind##_##claim)                                                        \
    {                                                                                              \
        claim(&kind_##of_kind);                                                                    \
    }
#define KIND_REAL_TEST(claim)                                                                      \
    static void claim(const kind *of);                                                             \
    FOR_EACH_KIND(KIND_REAL_TEST_, claim)                                                          \
    static void claim(const kind *of)

/* Handles that the stage keeps. rival_of: a lock whose owner and the kind's can't both hold theirs. */
rlock *kind_of(const kind *of, rlock_client *client, const char *name);
rlock *rival_of(const kind *of, rlock_client *client, const char *name);

/* That name, as a lock of the kind may have it in a cluster, in the same slot; one of some static texts. */
const char *kind_name(const kind *of, const char *name);
/* The key of the lock `name`, as static text. */
const char *kind_key(const kind *of, const char *name);
/* Fails the test unless nothing stands on the server but what a free lock of that name leaves there: a fenced lock's
 * counter, and a signal list's element, which it removes. */
void assert_free_keys(const kind *of, const char *name);

/* The channel of the lock `name`, as static text. */
const char *kind_channel(const kind *of, const char *name);

/* The keyspace, or what was said, with each "<client id>:<number>" of the client as A, B, C…: the
 * letters go by when an owner was first seen in the test. To be freed. */
char *with_letters(rlock_client *client, char *text);
/* Fails the test unless the whole keyspace is these lines, with letters. */
void assert_keyspace(rlock_client *client, const char *expected);

#endif
