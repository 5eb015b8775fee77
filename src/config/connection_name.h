/* The name that connections have in CLIENT LIST unless clientName gives one: it leads from an owner to its process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONNECTION_NAME_H
#define RLI_CONNECTION_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RLI_CONNECTION_NAME 160

/* "rlock:<client id>:<host>:<pid>", of this process. In the host's name, what Redis does not take in a name becomes _. */
void rli_connection_name_write(char name[RLI_CONNECTION_NAME], const char *client_id);

/* The parts of such a name, which point into it. */
typedef struct rli_connection_name {
    const char *client, *host;
    size_t client_length, host_length;
    int64_t pid;
} rli_connection_name;

/* Anybody may have given a connection any name. False: it is not of that form. */
bool rli_connection_name_read(rli_connection_name *parts, const char *name, size_t length);

#endif
