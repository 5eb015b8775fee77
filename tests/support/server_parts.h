/* The parts of the fixture's server, for server*.c alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SERVER_PARTS_H
#define TEST_SERVER_PARTS_H

#include "tests/support/folder.h"
#include "tests/support/server.h"

#include <pthread.h>
#include <sys/un.h>

#define SERVER_URLS 64
#define SERVER_ARGS 64

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

struct server {
    pid_t pid; /* 0: not running */
    bool frozen;
    int port, announced_port; /* 0: it announces its own */
    int port_fds[2]; /* hold the port, and that of a cluster's bus; -1: none */
    folder folder;
    char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char log[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char config[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of a sentinel; "": it is a server */
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
