/* Where a proxy listens, and where its server is: a unix socket or a loopback port. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PLACE_H
#define FAULT_PLACE_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef struct place {
    union {
        struct sockaddr any;
        struct sockaddr_un un;
        struct sockaddr_in in;
    };
    socklen_t size;
} place;

place place_of_path(const char *path);
place place_of_port(int port);

#define BACKLOG 128
/* A listening socket that does not block, in the place of whatever socket stands there; -1: errno. */
int place_listen(const place *place);
/* A connection; -1: errno. */
int place_connect(const place *place);
/* One that may still be on its way; -1: errno. */
int place_begin_connect(const place *place);
/* Small writes on this connection go at once. */
void place_hasten(int fd);

#endif
