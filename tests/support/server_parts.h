/* The parts of the fixture's server, for server*.c alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SERVER_PARTS_H
#define TEST_SERVER_PARTS_H

#include "tests/support/server.h"

#include <pthread.h>
#include <sys/un.h>

#define SERVER_URLS 64
#define SERVER_ARGS 64
/* Nodes of a cluster talk to each other on a second port, so much above the first. */
#define SERVER_BUS_ABOVE 10000

/* What listens to all channels (server_ear.c). */
typedef struct server_ear {
    pthread_mutex_t mutex; /* guards lines, length, shards… */
    pthread_cond_t cond;   /* one of these has changed; CLOCK_MONOTONIC */
    char *lines;           /* "channel message\n"…; ends with NUL once there is one */
    size_t length, room;
    int shards_asked, shards_answered; /* SSUBSCRIBEs; guarded, too */
    char shard_error[256];             /* what one was refused with; "": none was */
    redisContext *context; /* read by the thread alone while it runs; changed under mutex */
    bool stopping;         /* guarded, too */
    pthread_t thread;
    bool listening, running; /* wanted; there is a thread. Both: the test's thread only */
} server_ear;

/* Where it runs: a process of this machine, or a host of the simulated world. */
typedef struct server_process server_process;

struct server {
    server_process *process;
    bool up, frozen;
    int port, announced_port; /* 0: it announces its own */
    char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
    bool is_sentinel;
    char url[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
    char tcp_url[64];
    const char *args[SERVER_ARGS + 1]; /* the test's own, for restarts */
    char *copies[SERVER_ARGS];         /* what args points to */

    pthread_mutex_t asking; /* guards context; held during a command */
    redisContext *context;  /* NULL: none yet */
    char *urls[SERVER_URLS];
    int url_count;
    server_ear ear;
};

/* --- its process (server_process.c; for the simulated world tests/virtual/support/server_process.c) --- */

/* Finds its folder and the path of its socket; `config`: a sentinel's. Nothing runs yet. */
void server_process_make(server *self, const char *config);
/* Starts it and waits until it answers. `anew`: on any port that is free, else on its own. Fails the test when it cannot. */
void server_process_start(server *self, bool anew);
void server_process_kill(server *self); /* nothing when it does not run */
void server_process_freeze(server *self);
void server_process_thaw(server *self);
void server_process_free(server *self);

/* --- what the test has said of it --- */

bool server_speaks_tls(const server *server);
bool server_is_node(const server *server); /* of a cluster */
/* What a node says to others of where it is, once it stands behind something: pairs of words; how many words. */
int server_announcement(const server *self, char text[2][16], const char *words[4]);
/* What follows `name` among the test's own arguments; NULL: it is not there. */
const char *server_argument(const server *server, const char *name);

/* A new connection, authenticated when the server was started with --requirepass.
 * NULL: no server there, or it is still loading. */
redisContext *server_connect(const server *server);
void server_hang_up(server *server); /* closes the fixture's own connection */

void ear_init(server_ear *ear);
void ear_start(server *server); /* subscribes, then returns */
void ear_stop(server *server);  /* keeps the lines */
void ear_destroy(server_ear *ear);

#endif
