/* Agents: other programs' libraries in processes of their own, told what to do and heard line by line. The Java agent is
 * Redisson in a JVM. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_H
#define AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct agent agent;

/* What the agent answered. Times are CLOCK_MONOTONIC, taken in the JVM before and after. */
typedef struct answer {
    bool came, threw;
    char *text;    /* the result, "" for none; or the class that was thrown */
    char *message; /* of what was thrown */
    int64_t began_ns, ended_ns;
} answer;

/* Starts a JVM, which dies with the test. The launcher is that of RLOCK_AGENT, or the one that
 * tests/interop/prepare left in RLOCK_BUILD; without one the test is skipped (CI set: fails). */
agent *agent_start(void);
/* One that has this process' environment: the other may be a JVM that has served other tests (agent_pool.h). */
agent *agent_start_anew(void);
/* The same with another program that tests/interop/prepare left there: "redis-py", "python-redis-lock", "redlock". */
agent *agent_start_of(const char *which);
void agent_end(agent *agent);  /* closes its stdin, sees to its end, frees; NULL allowed */
bool agent_leave(agent *agent, int64_t ms); /* closes its stdin; whether it ended within ms */
void agent_kill(agent *agent); /* SIGKILL, waits for its end; agent_end is still to come */
pid_t agent_pid(const agent *agent);

/* Redisson.create() on the server at `url`; watchdog_ms 0: Redisson's default. */
void agent_open(agent *agent, const char *url, int64_t watchdog_ms);

/* Redisson.create() with its own configuration file, as cluster_yaml, sentinel_yaml and fleet_…_yaml
 * write it; agent_try_file gives what came of it, which may be an exception. */
void agent_open_file(agent *agent, const char *path);
const answer *agent_try_file(agent *agent, const char *path);

/* Sends a command in words, as in BEGIN(java, "t1", "lock", name, "try", "0", "5000"): thread,
 * kind, name, operation, its arguments. Does not wait; gives the tag for agent_await. Any thread. */
int agent_begin(agent *agent, const char *const *words);
#define BEGIN(agent, ...) agent_begin(agent, (const char *const[]){__VA_ARGS__, NULL})

/* Whether the answer has come; waits for it for at most ms. */
bool agent_answered(agent *agent, int tag, int64_t ms);
/* The answer, valid until agent_end; fails the test when it has not come after ms. */
const answer *agent_await(agent *agent, int tag, int64_t ms);

/* Both in one, with time enough for any call that does not wait for a lock. */
#define AGENT_MS 20000
#define ASK(agent, ...) agent_await(agent, BEGIN(agent, __VA_ARGS__), AGENT_MS)

/* Fails the test unless the answer is a result, or is an exception of that class (without
 * its package). */
void assert_result(const answer *got, const char *text);
void assert_thrown(const answer *got, const char *simple_class);

#endif
