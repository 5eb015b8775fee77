/* The stage of a test in a cluster: masters, two clients, and a look at all nodes at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARDS_H
#define SHARDS_H

#include "tests/integration/support/stage.h"
#include "tests/support/cluster.h"
#include "tests/support/texts.h"

#define MASTERS 3

/* A test runs in a process of its own, so one is enough. */
struct shards {
    cluster *cluster;
    rlock_client *client; /* the one under test */
    rlock_client *other;  /* stands for another process */
};
extern struct shards shards;

/* Longer than any takeover, with pauses short enough that the first lock after it is soon. */
#define PATIENT                                                                                                        \
    "timeout=1500&connectTimeout=1000&retryAttempts=100&retryBaseDelay=50&retryMaxDelay=200&slavesSyncTimeout=5000"

/* For .init and .fini of a test: MASTERS without replicas, clients with PATIENT. shards_close also frees
 * the handles of stage.h, kinds.h and objects.h. */
void shards_open(void);
void shards_close(void);
/* The same with so many replicas each, arguments for the servers (NULL: none), and another query. */
void shards_open_with(int replicas_each, const char *const *args, const char *query);
/* A cluster alone, for tests that open clients themselves. */
void shards_start(int masters, int replicas_each, const char *const *args);

/* One more client, closed by shards_close; one of them closed now. */
rlock_client *shards_client(const char *query);
rlock_client *shards_client_at(const char *url);
void shards_close_client(rlock_client *client);

/* A lock of those names, made by rlock_get_multi_lock or rlock_get_red_lock; freed by shards_close. */
typedef rlock *shards_maker(rlock *const *locks, size_t n);
rlock *shards_composite(shards_maker *make, rlock_client *client, const char *const names[MASTERS]);

/* How many keys all masters that are up have, without the elements of signal lists, which go by themselves. */
int64_t shards_keys(void);
/* Whether the servers have messages by slot, as from Redis 7.0 on; the same before a cluster is started. */
bool shards_go_by_slot(void);
bool shards_will_go_by_slot(void);
/* How many channels somebody is subscribed to at a node, by SSUBSCRIBE where there is that; waits until it is that
 * many. */
int64_t shards_channels_at(int node);
bool shards_wait_channels_at(int node, int64_t count, int64_t ms);
/* Waits until nobody is subscribed to anything, at any node that is up, plainly or sharded. */
bool shards_wait_no_channels(int64_t ms);
/* Fails the test unless there is neither key nor subscription. */
void shards_assert_nothing_left(void);

/* The channel of the lock `name` of most kinds, as static text. */
const char *shards_channel(const char *name);
/* The owner in the hash of the lock, as static text; "" when it is free. */
const char *shards_holder(const char *name);

#endif
