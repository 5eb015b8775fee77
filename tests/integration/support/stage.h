/* The stage of a test: a server, two clients on it, and handles that go when the test ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGE_H
#define STAGE_H

#include "tests/support/server.h"
#include "tests/support/test.h"

/* A test runs in a process of its own, so one stage is enough. */
struct stage {
    server *server;
    rlock_client *client; /* the one under test */
    rlock_client *other;  /* stands for another process */
};
extern struct stage stage;

/* A test that is not over by then hangs in a call: it is ended, whatever the runner makes of its time limit. s */
#define HANG_S 290

/* For .init and .fini of a test. stage_quick: the watchdog timeout is QUICK_MS. Two thirds of it are always left, so that a
 * hold outlives a real machine that stands still for some seconds. */
#ifdef TEST_VIRTUAL
#define QUICK_MS 2500
#define STAGE_QUICK "lockWatchdogTimeout=2500"
#else
#define QUICK_MS 10000
#define STAGE_QUICK "lockWatchdogTimeout=10000"
#endif
#define KEPT_MS (5 * QUICK_MS / 4) /* by then, what was not renewed is gone */
#define ROUND_MS (QUICK_MS / 2)    /* within it, all that is held is renewed, and what is lost is found */
void stage_open(void);
void stage_quick(void);
void stage_close(void);

/* Opens the stage with a query for both clients' URLs. */
void stage_open_with(const char *query);

/* The query of a client (NULL: none), to which a slow answer is an answer unless the query says how long it waits for
 * one: a real machine may stand still. It lives until the next call. */
const char *stage_patient_query(const char *query);
/* One more client, closed by stage_close; the same by a whole URL. */
rlock_client *stage_client(const char *query);
rlock_client *stage_client_at(const char *url);
/* Opens a client that is the caller's to close. On a real machine its server may stand still for a moment: a client that
 * waits for no answer as long is opened once there was one in time. */
rlock_client *stage_open_client(const char *url);
/* Closes one of the stage's clients now. */
void stage_close_client(rlock_client *client);

/* Keeps a handle until stage_close, which ends it when all clients are closed; fails the test when it is NULL. */
rlock *stage_keep(rlock *lock);
void *stage_keep_object(void *handle, void (*end)(void *handle));

/* Handles that are kept. */
rlock *lock_of(rlock_client *client, const char *name);
rlock *owned_by(rlock *lock, int64_t owner);

/* An upper bound for a time, in virtual time alone: a real machine may stand still, so there it is as good as none. */
int64_t at_most_ms(int64_t ms);
/* How often, at least, a stage_quick client has renewed a hold within ms that have just passed. */
int64_t least_renewals(int64_t ms);

#endif
