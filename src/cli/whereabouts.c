/* Whereabouts: whether the configured servers are on this machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/whereabouts.h"

#include "base/host_port.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

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
