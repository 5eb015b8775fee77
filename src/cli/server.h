/* Which server the command talks to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include <rlock/client.h>

/* The words of --url and --config; NULL: not given. */
typedef struct cli_server {
    const char *url, *config;
} cli_server;

/* For a table of options. */
#define SERVER_OPTIONS(server)                                                                                         \
    {.name = "--url", .text = &(server).url},                                                                          \
    {                                                                                                                  \
        .name = "--config", .text = &(server).config                                                                   \
    }

/* Settings, and in words where they are from. */
typedef struct cli_settings {
    rlock_config config;
    const char *source;
} cli_settings;

/* Those of that URL or configuration file, or when neither was given of RLOCK_URL or RLOCK_CONFIG, or of a
 * server on this machine; none is asked. Says on stderr what is wrong, and of a file what was not followed in
 * it, and answers the exit status; EXIT_DONE: end them with rlock_config_free(). */
int server_find(cli_settings *settings, const cli_server *server);

/* Opens a client with them. Says on stderr what failed and answers the exit status; EXIT_DONE: *client is set. */
int server_connect(rlock_client **client, const cli_settings *settings);

/* Both at once. */
int server_open(rlock_client **client, const cli_server *server);

#define SERVER_HELP                                                                                                    \
    "  --url URL   the server: redis://[user:password@]host[:port][/db], rediss://\n"                                  \
    "              for TLS, unix:///path[?db=n], redis-sentinel://host,…?masterName=…\n"                           \
    "              or redis-cluster://host,…; else RLOCK_URL from the environment,\n"                                \
    "              else redis://127.0.0.1:6379\n"                                                                      \
    "  --config FILE\n"                                                                                                \
    "              the servers and settings of Redisson's YAML file instead; else\n"                                   \
    "              RLOCK_CONFIG from the environment\n"

#endif
