/* Places: several servers, two clients on each, and locks made of locks there. The stage's server and
 * clients are the first place. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLACES_H
#define PLACES_H

#include "tests/support/server.h"
#include "tests/support/test.h"

#define PLACES 3

struct place {
    server *server;
    rlock_client *ours; /* under test */
    rlock_client *theirs; /* stands for another process */
};
extern struct place places[PLACES];

/* For .init and .fini of a test. places_quick: the watchdog timeout is QUICK_MS (stage.h). places_brief: clients that give
 * up on a server after some 500 ms. */
void places_open(void);
void places_quick(void);
void places_brief(void);
void places_close(void);

/* From now on locks on places are of that kind, until places_close; at first they are reentrant locks. */
struct kind;
void places_of(const struct kind *of);

/* Handles, freed by places_close: locks of these names, made one by `make`; and of the same name on
 * each place, for ours or theirs. */
typedef rlock *lock_maker(rlock *const *locks, size_t n);
rlock *made_of(lock_maker *make, rlock *const *locks, size_t n);
rlock *made_of_names(lock_maker *make, rlock_client *client, const char *const *names, size_t n);
rlock *made_on_places(lock_maker *make, bool ours, const char *name);
/* And the one at a place, or of another client. */
rlock *lock_at(size_t place, bool ours, const char *name);
rlock *lock_by(rlock_client *client, const char *name);
/* Keeps a handle until places_close. */
rlock *keep_lock(rlock *lock);

/* The lock's key at a place: held by somebody; by nobody within ms; taken by a program that is not
 * there; and freed, with its message. */
bool held_at(size_t place, const char *name);
bool wait_free_at(size_t place, const char *name, int64_t ms);
void foreign_hold_at(size_t place, const char *name);
void foreign_release_at(size_t place, const char *name);

/* A test of a red lock, and another over token locks, which are taken at the same time and not one after the other: named
 * `tokens_<claim>`. */
#define EITHER(how, suite, claim)                                                                                      \
    static void claim(void);                                                                                           \
    how(suite, claim)                                                                                                  \
    {                                                                                                                  \
        claim();                                                                                                       \
    }                                                                                                                  \
    how(suite, tokens_##claim)                                                                                         \
    {                                                                                                                  \
        places_of(&kind_token);                                                                                        \
        claim();                                                                                                       \
    }                                                                                                                  \
    static void claim(void)

#endif
