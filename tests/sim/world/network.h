/* Network: hosts, and the connections to them. Bytes of one direction arrive in their order, after as long as the seed
 * says, in any pieces; or they stop, and come after their sender has long gone; or the connection is reset. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include "tests/sim/server/server.h"
#include "tests/sim/world/machine.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct network_settings {
    int64_t latency_ns, jitter_ns; /* of each piece */
    int splits;                    /* of so many pieces, one is cut in two; 0: none */
    size_t window;                 /* so many bytes are on their way in one direction; more are not taken */
} network_settings;
extern network_settings network;

/* --- hosts --- */

typedef struct host {
    machine *machine;      /* its clock; it stands still when that does */
    struct in_addr address;
    in_port_t port;        /* host byte order */
    const char *path;      /* of its unix socket; NULL: it has none */
    sim_server *server;    /* NULL: nobody listens */
    bool refuses, deaf;    /* connections are refused; or nothing answers */
    int64_t service_ns;    /* how long it takes for what it hears */
    int64_t planned_ns;    /* when it next does something by itself */
    uint64_t hidden_from;  /* clients' machines by their numbers, as bits: their new connections get no answer */
    void (*called)(struct host *self); /* after each call into it; NULL */
    void *of;              /* the caller's */
} host;

/* A host of this run; its server is set by who makes it. */
host *host_make(const char *name, const char *address, int port);
host *host_at(struct in_addr address, in_port_t port); /* NULL: there is none */
host *host_with_path(const char *path);
host *host_number(int number);                         /* NULL: no more */
/* The server is about to start anew, or has gone: its connections end. */
void host_drop_connections(host *of);
/* The server has been killed: its connections end as its system ends them. */
void host_end_connections(host *of);
/* It stood still (machine_stop), and goes on now. */
void host_go_on(host *of);

/* Has the server do by itself what it has to, when that is due. After each call into it. */
void host_plan(host *of);

/* --- connections, seen from their client --- */

typedef struct connection connection;

connection *connection_open(machine *client, const struct sockaddr_in *to);
/* By the path of a unix socket; connected at once. NULL: *error is the errno. */
connection *connection_open_local(machine *client, const char *path, int *error);
/* Both ends of one, as of socketpair. */
void connection_pair(machine *of, connection *ends[2]);
/* 0, or the errno that the call fails with; EINPROGRESS. */
int connection_state(const connection *of);
/* As send and recv: how many bytes, 0 at the end of the stream, or -errno. */
ssize_t connection_send(connection *of, const char *bytes, size_t length);
ssize_t connection_receive(connection *of, char *bytes, size_t length);
ssize_t connection_look(const connection *of, char *bytes, size_t length); /* with MSG_PEEK */
short connection_events(const connection *of); /* as poll's revents */
void connection_shutdown(connection *of, bool both); /* for sending, or both directions */
/* Nobody has its descriptor any more; what was sent is still on its way. */
void connection_close(connection *of);
/* The same, and what was on its way in either direction is thrown away. */
void connection_abort(connection *of);
/* Whatever happens to it wakes who sleeps by the connection, or watches it, and who sleeps by what is set here. */
void connection_watch(connection *of, const void *on);

/* --- what goes wrong --- */

/* Each connection in turn, those that are open first; NULL: no more. */
connection *connection_number(int number);
host *connection_host(const connection *of);
const machine *connection_client(const connection *of);
bool connection_is_open(const connection *of);
/* Ends it on both sides. `late`: what is on its way to the server still arrives there. */
void connection_reset(connection *of, bool late);
/* Nothing arrives in these directions before that instant; WORLD_NEVER: until it is lifted. */
void connection_silence(connection *of, bool to_server, bool to_client, int64_t until_ns);
/* All that was silenced goes on. */
void network_heal(void);
/* Called by the server's hooks. */
void network_spoke(void *peer);
void network_hung_up(void *peer);

#endif
