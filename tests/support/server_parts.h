/* The parts of the fixture's server, for server*.c alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SERVER_PARTS_H
#define TEST_SERVER_PARTS_H

#include "tests/support/server.h"

#include <pthread.h>
#include <sys/un.h>

#define SERVER_URLS 64
#define SERVER_ARGS 64

/* What listens to all channels (server_ear.c). */
typedef struct server_ear {
    pthread_mutex_t mutex; /* guards lines and length */
    pthread_cond_t cond;   /* a line was added; CLOCK_MONOTONIC */
    char *lines;           /* "channel message\n"…; ends with NUL once there is one */
    size_t length, room;
    redisContext *context; /* read by the thread alone while it runs */
    pthread_t thread;
    bool listening, running; /* wanted; there is a thread. Both: the test's thread only */
} server_ear;

struct server {
    pid_t pid; /* 0: not running */
    int port;
    char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char log[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char url[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
    char tcp_url[64];
    const char *args[SERVER_ARGS + 1]; /* the test's own, for restarts */
    char *copies[SERVER_ARGS];         /* what args points to */

    pid_t janitor; /* removes the folder when janitor_fd is closed, by us or by our death */
    int janitor_fd;

    pthread_mutex_t asking; /* guards context; held during a command */
    redisContext *context;  /* NULL: none yet */
    char *urls[SERVER_URLS];
    int url_count;
    server_ear ear;
};

/* A new connection, authenticated when the server was started with --requirepass.
 * NULL: no server there, or it is still loading. */
redisContext *server_connect(const server *server);
void server_hang_up(server *server); /* closes the fixture's own connection */

void ear_init(server_ear *ear);
void ear_start(server *server); /* subscribes, then returns */
void ear_stop(server *server);  /* keeps the lines */
void ear_destroy(server_ear *ear);

#endif
