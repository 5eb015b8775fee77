/* Host and port in text: host, host:port, [IPv6 address] or [IPv6 address]:port. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host_port.h"

#include <arpa/inet.h>
#include <string.h>

static const char port_wrong[] = "has a port that is not a number from 1 to 65535";

int rli_port_read(const char *text, size_t length)
{
    int port = 0;
    for (size_t i = 0; i < length && port <= 65535; i++)
        port = text[i] >= '0' && text[i] <= '9' ? port * 10 + (text[i] - '0') : 65536;
    return port <= 65535 ? port : 0;
}

const char *rli_host_port_read(rli_host_port *place, const char *text, size_t length)
{
    const char *end = text + length, *colon;
    if (length && *text == '[') {
        const char *close = memchr(text, ']', length);
        if (!close)
            return "has a [ without a ]";
        *place = (rli_host_port){.host = text + 1, .length = (size_t)(close - text) - 1};
        colon = close + 1;
        if (colon < end && *colon != ':')
            return "has something other than :port after its ]";
    } else {
        colon = memchr(text, ':', length);
        if (colon && memchr(colon + 1, ':', (size_t)(end - colon) - 1))
            return "has more than one colon; an IPv6 address needs [ ] around it";
        colon = colon ? colon : end;
        *place = (rli_host_port){.host = text, .length = (size_t)(colon - text)};
    }
    if (!place->length)
        return "has no host";
    if (colon < end && !(place->port = rli_port_read(colon + 1, (size_t)(end - colon) - 1)))
        return port_wrong;
    return NULL;
}

const char *rli_host_port_split(rli_host_port *place, const char *text, size_t length)
{
    const char *end = text + length, *colon = memrchr(text, ':', length), *close = memrchr(text, ']', length);
    *place = (rli_host_port){.host = text};
    if (!colon || (close && close > colon) || colon + 1 == end)
        return "has no port";
    place->length = (size_t)(colon - text);
    place->port = rli_port_read(colon + 1, (size_t)(end - colon) - 1);
    if (place->length > 1 && *text == '[' && close == colon - 1) {
        place->host++;
        place->length -= 2;
    }
    return place->port ? NULL : port_wrong;
}

bool rli_host_is_name(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) != 1 && inet_pton(AF_INET6, host, bytes) != 1;
}
