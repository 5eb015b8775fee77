/* Server: which server the command talks to, and whether it is on this machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include "cli/message.h"

#include <rlock/client.h>
#include <rlock/config.h>
#include <stdbool.h>

/* Values of --url and --config; NULL: not given. */
typedef struct cli_server {
    const char *url, *config;
} cli_server;

/* Entries for a table of options. */
#define SERVER_OPTIONS(server)                                                                                         \
    {.name = "--url", .text = &(server).url},                                                                          \
    {                                                                                                                  \
        .name = "--config", .text = &(server).config                                                                   \
    }

/* Settings, and where they come from, for messages. */
typedef struct cli_settings {
    rlock_config config;
    const char *source;
} cli_settings;

/* Reads the settings from the given URL or configuration file; otherwise from RLOCK_URL or RLOCK_CONFIG;
 * otherwise takes a server on this machine. Asks no server. Writes to stderr what is wrong, and what a file
 * contains that was not followed. Returns EXIT_DONE (end the config with rlock_config_free()), or the exit
 * status. */
int server_find(cli_settings *settings, const cli_server *server);

/* Opens a client with these settings. Returns EXIT_DONE and sets *client; otherwise the exit status, after a
 * message on stderr. */
int server_connect(rlock_client **client, const cli_settings *settings);

/* server_find and server_connect in one call. */
int server_open(rlock_client **client, const cli_server *server);

#define SERVER_HELP                                                                                                    \
    "  --url URL   the server: redis://[user:password@]host[:port][/db], rediss://\n"                                  \
    "              for TLS, unix:///path[?db=n], redis-sentinel://host,…?masterName=…\n"                           \
    "              or redis-cluster://host,…; else RLOCK_URL from the environment,\n"                                \
    "              else redis://127.0.0.1:6379\n"                                                                      \
    "  --config FILE\n"                                                                                                \
    "              take servers and settings from Redisson's YAML file instead; else\n"                                \
    "              RLOCK_CONFIG from the environment\n"

/* Returns true only if it is certain: a unix socket, or one server at a loopback address or "localhost". A
 * cluster or sentinels may lead to any machine. Looks up no host names. `shown`: the hosts, for messages. */
bool servers_are_here(const rlock_config *config, char shown[SHOWN_SIZE]);

#endif
