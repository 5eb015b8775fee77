/* A redis-server of the test's own: on a unix socket and a free loopback port, in a temporary
 * folder, gone when the test or its process ends, however it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SERVER_H
#define TEST_SERVER_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct server server;

/* Starts a server without persistence and waits until it answers. Fails the test when it
 * cannot. `args`: further redis-server arguments, NULL-terminated, or NULL. With --tls-cert-file
 * among them its port speaks TLS alone (certificates.h); the socket never does. */
server *server_start(void);
server *server_start_with(const char *const *args);
/* The same for a sentinel; `config`: the text of its configuration file, which it rewrites. */
server *server_start_sentinel(const char *config, const char *const *args);
void server_stop(server *server); /* ends it, removes its folder, frees; NULL allowed */

const char *server_url(const server *server);     /* unix:///…/redis.sock */
const char *server_tcp_url(const server *server); /* redis(s)://127.0.0.1:port */
const char *server_socket(const server *server);  /* path of the socket */
const char *server_folder(const server *server);  /* where it works; goes with it */
int server_port(const server *server);
/* The port at which clients come: its own, or the one that it announces. */
int server_public_port(const server *server);
pid_t server_pid(const server *server);
/* server_url() with a query appended, as in server_url_with(s, "lockWatchdogTimeout=1000");
 * the text lives as long as the server (up to 64 of them). */
const char *server_url_with(server *server, const char *query);

/* The last 4 KB of what it logged, for the message of a failing test. To be freed. */
char *server_log_end(const server *server);

void server_kill(server *server);    /* SIGKILL, waits for its end; the data is gone */
void server_restart(server *server); /* starts it again, empty, on the same socket and port */
void server_freeze(server *server);  /* SIGSTOP */
void server_thaw(server *server);    /* SIGCONT */
bool server_is_up(const server *server); /* neither killed nor frozen by us */

/* From now on, also after a restart, it announces that port as a node of a cluster, as a replica or as
 * a sentinel; server_tcp_url, and what cluster.h, fleet.h and sentinel.h say of it, name that port. */
void server_announce(server *server, int port);
/* When set, each server that is started announces the port that this gives for it: that of what the
 * test has put before it (tests/fault/support/fronts.h). */
extern int (*server_front)(const server *server);

/* Between two looks at what servers tell each other: each costs some requests, of many tests at a time. */
#define SERVER_LOOK_MS 20

/* One command on the fixture's own connection (made again when needed); printf-like as
 * redisCommand. Fails the test when there is no answer. Free with freeReplyObject. */
redisReply *server_command(server *server, const char *format, ...);
/* Whether it has that command: Redis 6.2 lacks some of those of 7.0, as SSUBSCRIBE. */
bool server_knows(server *server, const char *command);
/* The same, for an integer or a text answer; the text must be freed, NULL for nil. */
int64_t server_integer(server *server, const char *format, ...);
char *server_text(server *server, const char *format, ...);
/* The value of a field of INFO, as "total_commands_processed" or "connected_clients". */
int64_t server_info(server *server, const char *field);
/* How often it has run a command, as "wait" or "cluster|slots", in vain or not. Redis 6.2 counts all of a container's
 * commands as one. */
int64_t server_times(server *server, const char *command);
/* Everything in the keyspace as the lines of the golden file: sorted by key, each
 * `name type [members] `, with client ids as given; free it. PTTLs are left out. */
char *server_keyspace(server *server);

/* Messages published from now on, on every channel: server_listen starts a PSUBSCRIBE * on a
 * connection of its own, which is made again when the server ends it; server_heard waits until
 * `message` came on `channel` (true) or ms passed; server_heard_all gives all lines
 * "channel message\n" so far, to be freed. */
void server_listen(server *server);
bool server_heard(server *server, const char *channel, const char *message, int64_t ms);
char *server_heard_all(server *server);
/* The same for SPUBLISH, which server_listen does not hear: a channel of a node of a cluster that
 * serves the channel's slot, until that moves away. Not after a restart. */
void server_listen_shard(server *server, const char *channel);

/* How many listen to the channel or are registered to hear of it on channels of their own. */
int64_t server_count_waiting(server *, const char *channel);
/* Waits until the named thing is so, for at most ms; polls every millisecond. */
bool server_wait_subscribers(server *server, const char *channel, int64_t count, int64_t ms);
bool server_wait_exists(server *server, const char *key, bool exists, int64_t ms);

#endif
