/* Connection name: the default name of connections in CLIENT LIST, which leads from an owner to its process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONNECTION_NAME_H
#define RLI_CONNECTION_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RLI_CONNECTION_NAME 160

/* Writes "rlock:<client id>:<host>:<pid>" for this process. In the host, characters that Redis does not allow
 * in a name become _. */
void rli_connection_name_write(char name[RLI_CONNECTION_NAME], const char *client_id);

/* The parts of such a name; the pointers point into it. */
typedef struct rli_connection_name {
    const char *client, *host;
    size_t client_length, host_length;
    int64_t pid;
} rli_connection_name;

/* Parses a connection name of `length` bytes. False: it is not of this form; other programs may give their
 * connections any name. */
bool rli_connection_name_read(rli_connection_name *parts, const char *name, size_t length);

#endif
