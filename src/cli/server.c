/* Server: which server the command talks to, and whether it is on this machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/server.h"

#include "base/host_port.h"
#include "cli/message.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of an environment variable; NULL: not set, or empty. */
static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Writes each warning on its own line, like other messages. */
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

/* The library's advice for a NameMapper is a field of a struct, which the command has not. */
static void complain_of_file(const char *source)
{
    const char *why = rlock_last_error(), *field = strstr(why, ", or set config->name_prefix");
    if (field)
        complain("%s: %.*s, or use --url with ?namePrefix=", source, (int)(field - why), why);
    else
        complain("%s: %s", source, why);
}

static int read_file(cli_settings *settings, const char *path, const char *source)
{
    settings->source = source;
    rlock_status status = rlock_config_load_yaml(&settings->config, path);
    if (status == RLOCK_OK)
        show_warnings(&settings->config);
    else
        complain_of_file(source);
    return exit_for(status);
}

static int take_url(cli_settings *settings, const char *url, const char *source)
{
    settings->source = source;
    settings->config.address = url;
    return EXIT_DONE;
}

/* --- passwords on the command line, which ps(1) shows to all users of the machine --- */

static void blank(char *from, const char *to)
{
    while (from < to)
        *from++ = '*';
}

/* Blanks the password before the host, which may have characters that it should not have, and those of parameters. */
static void blank_passwords(char *url)
{
    static const char parameter[] = "assword="; /* sentinelPassword, sslTruststorePassword and sslKeystorePassword */
    char *scheme = strstr(url, "://"), *user = scheme ? scheme + 3 : url, *host = strrchr(user, '@');
    char *colon = host ? memchr(user, ':', (size_t)(host - user)) : NULL;
    if (host)
        blank(colon ? colon + 1 : user, host);
    for (char *at = user; (at = strstr(at, parameter));) {
        at += sizeof parameter - 1;
        blank(at, at + strcspn(at, "&"));
    }
}

/* Takes the URL of --url, of which the command line keeps a copy without passwords. */
static int take_given_url(cli_settings *settings, const char *url)
{
    static char *kept; /* until the process ends */
    char *copy = strdup(url);
    if (!copy) {
        complain("out of memory for the server's address");
        return EXIT_SYSTEM;
    }
    free(kept);
    kept = copy;
    blank_passwords((char *)(uintptr_t)url); /* argv, which belongs to the program */
    return take_url(settings, kept, "the server's address in --url");
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
        return take_given_url(settings, url);
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

/* --- where it is --- */

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    if (strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0)
        return true;
    return inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

static void note(char shown[SHOWN_SIZE], const char *host)
{
    size_t used = strlen(shown);
    snprintf(shown + used, SHOWN_SIZE - used, "%s%s", used ? ", " : "", host);
}

/* Does not show what may be a password: skips everything up to the last @, and shows nothing of a URL with an
 * @ after a / or ?. */
static bool is_here(const char *url, char shown[SHOWN_SIZE])
{
    const char *rest = strstr(url, "://");
    if (!rest || strchr(rest + 3 + strcspn(rest + 3, "/?"), '@'))
        return false;
    size_t scheme = (size_t)(rest - url), length = strcspn(rest + 3, "/?");
    const char *place = rest + 3, *end = place + length;
    bool alone = (scheme == 5 && memcmp(url, "redis", 5) == 0) || (scheme == 6 && memcmp(url, "rediss", 6) == 0);
    if (scheme == 4 && memcmp(url, "unix", 4) == 0) {
        note(shown, "this machine");
        return true;
    }
    for (const char *at = place; at < end; at++) {
        if (*at == '@')
            place = at + 1;
    }
    for (const char *comma; place <= end; place = comma + 1) {
        char host[SHOWN_SIZE];
        rli_host_port server;
        comma = memchr(place, ',', (size_t)(end - place));
        comma = comma ? comma : end;
        if (rli_host_port_read(&server, place, (size_t)(comma - place)))
            return false;
        snprintf(host, sizeof host, "%.*s", (int)server.length, server.host);
        note(shown, host);
        alone = alone && is_loopback(host);
    }
    return alone;
}

bool servers_are_here(const rlock_config *config, char shown[SHOWN_SIZE])
{
    *shown = 0;
    if (config->address)
        return is_here(config->address, shown);
    bool here = config->address_count > 0;
    for (size_t i = 0; i < config->address_count; i++)
        here = is_here(config->addresses[i], shown) && here;
    return here;
}
