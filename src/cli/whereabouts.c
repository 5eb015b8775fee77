/* Whereabouts: whether the configured servers are on this machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/whereabouts.h"

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

/* Copies the host from host, host:port, [v6] or [v6]:port. */
static void read_host(const char *place, size_t length, char host[SHOWN_SIZE])
{
    bool bracket = length > 0 && *place == '[';
    const char *end = memchr(place, bracket ? ']' : ':', length);
    if (bracket)
        place++;
    int shown = (int)((end ? end : place + length - bracket) - place);
    snprintf(host, SHOWN_SIZE, "%.*s", shown, place);
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
        comma = memchr(place, ',', (size_t)(end - place));
        comma = comma ? comma : end;
        read_host(place, (size_t)(comma - place), host);
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
