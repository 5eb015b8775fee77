/* Server: which server the command talks to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/server.h"

#include "cli/exits.h"
#include "cli/message.h"

#include <stdlib.h>
#include <string.h>

/* The value of an environment variable; NULL: not set, or empty. */
static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Writes each warning as a line of its own, like other messages. */
static void show_warnings(const rlock_config *config)
{
    for (const char *line = rlock_config_warnings(config); *line;) {
        size_t length = strcspn(line, "\n");
        complain("%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

int server_connect(rlock_client **client, const cli_settings *settings)
{
    rlock_status status = rlock_client_open_config(client, &settings->config);
    if (status == RLOCK_INVALID || status == RLOCK_UNSUPPORTED)
        complain("%s: %s", settings->source, rlock_last_error());
    else if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    return exit_for(status);
}

static int read_file(cli_settings *settings, const char *path, const char *source)
{
    settings->source = source;
    rlock_status status = rlock_config_load_yaml(&settings->config, path);
    if (status == RLOCK_OK)
        show_warnings(&settings->config);
    else
        complain("%s: %s", source, rlock_last_error());
    return exit_for(status);
}

static int take_url(cli_settings *settings, const char *url, const char *source)
{
    settings->source = source;
    settings->config.address = url;
    return EXIT_DONE;
}

int server_find(cli_settings *settings, const cli_server *server)
{
    rlock_config_init(&settings->config);
    const char *url = server->url, *file = server->config;
    if (url && file) {
        complain("--url and --config are both given; one of them says where the server is");
        return EXIT_USAGE;
    }
    if (file)
        return read_file(settings, file, "--config");
    if (url)
        return take_url(settings, url, "the server's address in --url");
    url = from_environment("RLOCK_URL");
    file = from_environment("RLOCK_CONFIG");
    if (url && file) {
        complain("RLOCK_URL and RLOCK_CONFIG are both set; one of them says where the server is");
        return EXIT_USAGE;
    }
    if (file)
        return read_file(settings, file, "RLOCK_CONFIG");
    return url ? take_url(settings, url, "the server's address in RLOCK_URL")
               : take_url(settings, "redis://127.0.0.1:6379", "the server's address");
}

int server_open(rlock_client **client, const cli_server *server)
{
    cli_settings settings;
    int code = server_find(&settings, server);
    if (code != EXIT_DONE)
        return code;
    code = server_connect(client, &settings);
    rlock_config_free(&settings.config);
    return code;
}
