/* Listeners: sockets of the world's own processes that others connect to, by a port of the loopback or by a path. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_LISTENER_H
#define SIM_LISTENER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct connection;
typedef struct listener listener;

/* A socket that is bound to that address; port 0: to a free one. */
listener *listener_bind(const struct sockaddr *at);
void listener_address(const listener *of, struct sockaddr_in *address); /* of a port */
/* From now on others may connect to it, so many more than one before they are accepted. 0, or -errno. */
int listener_open(listener *self, int backlog);
void listener_close(listener *self); /* frees it; those that nobody has accepted are reset */

/* That listens at a port, or at a path; NULL: none does. */
listener *listener_of_port(in_port_t port);
listener *listener_of_path(const char *path);

/* An end of a connection, to be accepted. False: there is no room for more. */
bool listener_has_room(const listener *of);
void listener_add(listener *self, struct connection *end);
struct connection *listener_accept(listener *self); /* NULL: none has come */
bool listener_has_any(const listener *of);

#endif
