/* A model of a Redis or Valkey server: bytes of connections and an instant in, bytes out. It has no threads, sockets and
 * clock, and calls no operating system: equal inputs give equal outputs. One thread at a time may use all servers that
 * know each other. Hooks must not call back into the model. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include "tests/sim/server/cluster.h"
#include "tests/sim/server/sentinel.h"
#include "tests/sim/server/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_server sim_server;
typedef struct sim_link sim_link; /* a connection */

typedef enum sim_version {
    SIM_REDIS_6_2,
    SIM_REDIS_7_0,
    SIM_REDIS_7_2, /* up to 7.2.4: later ones write Lua's numbers as 8.0 does */
    SIM_REDICT_7_3,
    SIM_VALKEY_8_0,
    SIM_REDIS_8_0
} sim_version;

typedef enum sim_mode { SIM_SINGLE, SIM_CLUSTER, SIM_SENTINEL } sim_mode;

/* One run of a script. What it points to is gone when the hook returns. */
typedef struct sim_run {
    const char *sha1;      /* 40 hex digits */
    const char *name;      /* "lock/acquire"; NULL: none of ours */
    size_t keys, count;    /* so many of the words are keys, the others arguments */
    const sim_word *words;
    sim_word answer;       /* as it is on the wire */
} sim_run;

/* All but now_us may be NULL. */
typedef struct sim_hooks {
    void *world; /* the first argument of each */
    int64_t (*now_us)(void *world);                     /* the server's wall clock; since 1970 */
    void (*spoke)(void *world, sim_link *link);         /* there are bytes to take */
    void (*hung_up)(void *world, sim_link *link);       /* the server ends it; what it said may still be taken */
    void (*trouble)(void *world, const char *what);     /* what no server should meet: a script without an end */
    void (*ran)(void *world, sim_link *link, const sim_run *run);
    /* The server at that address; NULL: there is none, or its host is unknown. REPLICAOF asks for it. */
    sim_server *(*find)(void *world, const char *host, int port);
    /* A message, for the other nodes of a cluster, or those of the shard: give it to sim_server_publish. */
    void (*spread)(void *world, sim_server *server, bool sharded, const char *channel, size_t channel_length,
                   const char *message, size_t message_length);
    void (*begins)(void *world, const sim_run *run); /* a script, without its answer yet */
    void (*published)(void *world, const char *channel, size_t channel_length, const char *message, size_t message_length,
                      size_t heard);
    void (*notified)(void *world, const char *key, size_t length, const char *event); /* of any class that is told */
} sim_hooks;

/* Texts are copied; NULL: the default. */
typedef struct sim_server_settings {
    sim_version version;
    sim_mode mode;
    const char *host; /* "127.0.0.1" */
    int port;
    int databases;    /* 0: 16; a cluster has one */
    const char *user, *password; /* that clients must give; user NULL: the password alone */
    const char *notifies; /* notify-keyspace-events, at each start; NULL: none */
    uint64_t seed;    /* decides the order in which hashes, sets and keys are listed, and the run id */
    sim_hooks hooks;
} sim_server_settings;

sim_server *sim_server_make(const sim_server_settings *settings);
void sim_server_free(sim_server *server); /* and its links; NULL allowed */

/* --- connections --- */

/* `peer` is the world's. The server may hang up at once (SIM_FULL, SIM_PROTECTED). */
sim_link *sim_link_open(sim_server *server, void *peer);
void *sim_link_peer(const sim_link *link);
/* Bytes in any cuts. Runs whole commands at once, in order, but none while the server is paused, or while this link is
 * in WAIT. Nothing once it has hung up. */
void sim_link_hear(sim_link *link, const char *bytes, size_t count);
uint64_t sim_link_id(const sim_link *link); /* as CLIENT ID says */
/* Takes up to `most` bytes that the server says; how many. */
size_t sim_link_take(sim_link *link, char *bytes, size_t most);
size_t sim_link_waiting(const sim_link *link); /* how many there are to take */
void sim_link_close(sim_link *link); /* frees it; required even after hung_up */

/* When the server has something to do by itself (end of a WAIT, end of a pause), in its clock; INT64_MAX: never.
 * sim_server_run does what is due. Keys that have expired are never seen, without that. */
int64_t sim_server_due_us(sim_server *server);
void sim_server_run(sim_server *server);

/* --- life and troubles --- */

/* A new run: other run id, no scripts, no links (hung_up is called for each). */
void sim_server_restart(sim_server *server, bool keeps_data);

typedef enum sim_failure {
    SIM_WELL,
    SIM_LOADING,
    SIM_BUSY,       /* a script of somebody else runs */
    SIM_MISCONF,    /* cannot save: refuses writes */
    SIM_OOM,        /* at maxmemory: refuses what may need memory */
    SIM_NOREPLICAS, /* fewer than min-replicas-to-write */
    SIM_MASTERDOWN, /* a replica that has lost its master */
    SIM_FULL,       /* maximum of clients reached: new ones are told and hung up on */
    SIM_PROTECTED   /* protected mode: likewise */
} sim_failure;

void sim_server_fail(sim_server *server, sim_failure how); /* until told otherwise */

/* What the user of all links may not do: a command ("publish", "client|setname"), keys or channels that match a pattern of
 * Redis's. NULL: allows all again. */
typedef enum sim_right { SIM_COMMAND, SIM_KEY, SIM_CHANNEL } sim_right;
void sim_server_deny(sim_server *server, sim_right right, const char *pattern);

/* Somebody beyond the links hears all channels that match the pattern, as a monitoring page does; NULL: nobody any more. The
 * text must outlive the server. */
void sim_server_overhear(sim_server *server, const char *pattern);

/* A message from another node; how many links heard it. */
size_t sim_server_publish(sim_server *server, bool sharded, const char *channel, size_t channel_length,
                          const char *message, size_t message_length);

/* --- replication --- */

/* Follows a master from now on (REPLICAOF), or is one itself (NULL). It keeps its data until its next catch-up, which
 * then copies all that the master has; as a master it has what it had. */
void sim_server_follow(sim_server *server, sim_server *master);
/* The link to its master is cut, or there again. Cut, it does not catch up, and counts as no replica. */
void sim_replica_connect(sim_server *server, bool connected);
/* Takes over up to so many of its master's writes (commands, transactions and scripts count as one each) and tells the
 * master, whose WAITs may end. How many it still lacks. */
int64_t sim_replica_catch_up(sim_server *server, int64_t writes);
int64_t sim_replica_lacks(const sim_server *server);
/* Each key that the writes which it lacks have changed, perhaps several times. False: it has not copied its master's data
 * yet, and lacks anything. */
bool sim_replica_lacking(const sim_server *server, void (*note)(void *argument, const char *key, size_t length),
                         void *argument);
sim_server *sim_server_master(const sim_server *server); /* NULL: it is one */

/* --- clusters and sentinels --- */

/* What this node knows; the world's, and must live as long as it is set. */
void sim_server_see_cluster(sim_server *server, const sim_cluster_view *view);
/* Moves one key to another node, as MIGRATE. False: there is none. */
bool sim_server_move_key(sim_server *from, sim_server *to, const char *key, size_t length);
void sim_server_see_masters(sim_server *server, const sim_sentinel_view *view);

/* --- looking past the wire --- */

const sim_server_settings *sim_server_settings_of(const sim_server *server);
const char *sim_server_run_id(const sim_server *server);
/* The first key of a database that comes after `before` in its order of bytes; NULL: the first of all. False: none. The
 * name lives until the key is gone. */
bool sim_server_key(sim_server *server, int database, const char *before, size_t before_length, const char **name,
                    size_t *length);
/* "hash"…; NULL: no such key. expires_us: when it ends by the server's clock; -1: never. May be NULL. */
const char *sim_server_look(sim_server *server, int database, const char *key, size_t length, int64_t *expires_us);
/* What it holds (tests/sim/server/value.h), until the next command; NULL: no such key. For hooks, too. */
const struct sim_value *sim_server_value(sim_server *server, int database, const char *key, size_t length);
int64_t sim_server_now_us(const sim_server *server); /* at the present command, or the last look */
/* What a command would answer, on the wire; gone with the next call. It changes nothing in the links. */
const char *sim_server_ask(sim_server *server, int database, const char *const *words, size_t *length);

/* What real servers do and the model does not: CONFIG, COMMAND, DEBUG, MEMORY, OBJECT, WATCH, COPY, DUMP, RESTORE and
 * SHUTDOWN; blocking pops but BLPOP and BRPOP; INCRBYFLOAT and HINCRBYFLOAT; streams, bitmaps and geography; RESP3 (HELLO is always refused);
 * scripts with a shebang, FUNCTION, redis.setresp and redis.breakpoint; redis.log and redis.replicate_commands do nothing;
 * eviction at maxmemory; keyspace notifications of the other classes than g and x. A key that expires is told at once. Several messages that one command causes (two patterns that match one channel,
 * UNSUBSCRIBE from all) may come in another order. A pause or a WAIT whose end overflows 64 bits lasts for ever here. */

#endif
