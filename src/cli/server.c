/* Which server the command talks to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/server.h"

#include "cli/exits.h"
#include "cli/message.h"

#include <stdlib.h>
#include <string.h>

/* What the environment has under a name; NULL: nothing, or an empty text. */
static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* A line each, as other complaints. */
static void show_warnings(const rlock_config *config)
{
    for (const char *line = rlock_config_warnings(config); *line;) {
        size_t length = strcspn(line, "\n");
        complain("%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* `source`: what to say of where the settings are from. */
static int open_with(rlock_client **client, const rlock_config *config, const char *source)
{
    rlock_status status = rlock_client_open_config(client, config);
    if (status == RLOCK_INVALID || status == RLOCK_UNSUPPORTED)
        complain("%s: %s", source, rlock_last_error());
    else if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    return exit_for(status);
}

static int open_file(rlock_client **client, rlock_config *config, const char *path, const char *source)
{
    rlock_status status = rlock_config_load_yaml(config, path);
    if (status != RLOCK_OK) {
        complain("%s: %s", source, rlock_last_error());
        return exit_for(status);
    }
    show_warnings(config);
    int code = open_with(client, config, source);
    rlock_config_free(config);
    return code;
}

int server_open(rlock_client **client, const cli_server *server)
{
    rlock_config config;
    rlock_config_init(&config);
    config.client_name = "rlock"; /* for CLIENT LIST, unless the URL or the file says otherwise */
    const char *url = server->url, *file = server->config;
    if (url && file) {
        complain("--url and --config are both given; one of them says where the server is");
        return EXIT_USAGE;
    }
    if (file)
        return open_file(client, &config, file, "--config");
    if (url) {
        config.address = url;
        return open_with(client, &config, "the server's address in --url");
    }
    url = from_environment("RLOCK_URL");
    file = from_environment("RLOCK_CONFIG");
    if (url && file) {
        complain("RLOCK_URL and RLOCK_CONFIG are both set; one of them says where the server is");
        return EXIT_USAGE;
    }
    if (file)
        return open_file(client, &config, file, "RLOCK_CONFIG");
    config.address = url ? url : "redis://127.0.0.1:6379";
    return open_with(client, &config, url ? "the server's address in RLOCK_URL" : "the server's address");
}
