/* The stage with Java on it: a JVM beside the C clients, whose threads are owners by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JAVA_H
#define JAVA_H

#include "tests/integration/support/stage.h"
#include "tests/interop/support/agent.h"

/* A test runs in a process of its own, so one JVM is enough. */
extern agent *java;

/* For .init and .fini of a test; java_stage_quick: the watchdog timeout of both is QUICK_MS. */
void java_stage(void);
void java_stage_quick(void);
void java_stage_close(void);

/* Another client, on another server; the one before goes idle. */
void java_move_to(server *server);
/* For a test whose stage is no single server: java_begin is its first step, so that it is skipped without
 * Java before it has started anything; java_open_file opens Redisson with a configuration file
 * (agent_open_file), and agent_end(java) comes before the servers' end. Where is no single server,
 * java_unlock does not wait for the unlock latch to go, nor java_kill for the connections' end. */
void java_begin(void);
void java_open_file(const char *path);
/* The one of them that is meant by that from now on. */
void java_is_at(server *server);
/* Kills the JVM; the server has read the last that it sent. */
void java_kill(void);
/* Waits until the server has none left of the connections with that client name, and so has read
 * all that a killed process sent; fails the test when that takes more than 5 s. */
void wait_disconnected(const char *client_name);

/* Java's calls on the lock `name`, by the Java thread `thread`; an exception fails the test.
 * java_unlock waits for Redisson to take its unlock latch away too, a key that answers a retry of
 * the unlock and that it deletes when it likes; so does wait_no_latches. */
void java_lock(const char *thread, const char *name);
void java_lease(const char *thread, const char *name, int64_t lease_ms);
bool java_try(const char *thread, const char *name, int64_t wait_ms, int64_t lease_ms);
const answer *java_unlock(const char *thread, const char *name);
void wait_no_latches(void);
bool java_force(const char *thread, const char *name);
bool java_is_locked(const char *name);
bool java_is_held(const char *thread, const char *name);
int64_t java_hold_count(const char *thread, const char *name);
int64_t java_ttl(const char *name);

/* Calls that may wait: they give the tag for agent_await. */
int java_begin_lock(const char *thread, const char *name);
int java_begin_try(const char *thread, const char *name, int64_t wait_ms, int64_t lease_ms);

/* Waits until a new waiter sleeps, which asks, subscribes, asks again and sleeps: it has done so when
 * the name is listened to and two scripts have run since scripts_run() was `scripts_before`. */
void wait_for_waiter(const char *name, int64_t scripts_before);

/* Waits until the Java thread sleeps as Redisson's waiters do: it has been refused, listens, has been
 * refused again, and needs a message, a pause or the end of a TTL. A message of Redisson's that is
 * to wake all wakes none who is not yet asleep. */
void java_await_asleep(const char *thread);

/* CLOCK_MONOTONIC, as in an answer. */
int64_t now_ns(void);

#endif
