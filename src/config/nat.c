/* NAT map, Redisson's natMapper: replaces addresses of servers that this process cannot reach. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/nat.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLE "write for example 10.0.0.1:7000=127.0.0.1:7001,10.0.0.2=127.0.0.1"

static rlock_status wrong(const char *text, size_t length, const char *why)
{
    return rli_fail(RLOCK_INVALID, "natMap has \"%.*s\", %s; " EXAMPLE, (int)(length > 80 ? 80 : length), text, why);
}

/* -1: not a port number. */
static int read_port(const char *text, size_t length)
{
    int port = 0;
    for (size_t i = 0; i < length && port <= 65535; i++)
        port = text[i] >= '0' && text[i] <= '9' ? port * 10 + (text[i] - '0') : 65536;
    return port < 1 || port > 65535 ? -1 : port;
}

/* Parses host, host:port, [v6] or [v6]:port. Returns what is wrong with it, or NULL. */
static const char *read_place(rli_nat_address *place, const char *text, size_t length)
{
    const char *end = text + length, *behind;
    if (length && *text == '[') {
        const char *close = memchr(text, ']', length);
        if (!close)
            return "a [ without a ]";
        *place = (rli_nat_address){.host = text + 1, .length = (size_t)(close - text) - 1};
        behind = close + 1;
        if (behind < end && *behind != ':')
            return "something other than :port behind a ]";
    } else {
        const char *colon = memchr(text, ':', length);
        behind = colon ? colon : end;
        *place = (rli_nat_address){.host = text, .length = (size_t)(behind - text)};
        if (colon && memchr(colon + 1, ':', (size_t)(end - colon) - 1))
            return "an IPv6 address without [ ] around it";
    }
    if (!place->length)
        return "where a host is missing";
    for (size_t i = 0; i < place->length; i++) {
        if (strchr(" \t\r\n", place->host[i]))
            return "which has white space in it";
    }
    if (behind < end)
        place->port = read_port(behind + 1, (size_t)(end - behind) - 1);
    return place->port < 0 ? "where the port is no number from 1 to 65535" : NULL;
}

static const char *read_pair(struct rli_nat_pair *pair, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    if (!equals)
        return "where a = is missing";
    if (memchr(equals + 1, '=', length - (size_t)(equals - text) - 1))
        return "with more than one =";
    const char *why = read_place(&pair->from, text, (size_t)(equals - text));
    if (!why)
        why = read_place(&pair->to, equals + 1, length - (size_t)(equals - text) - 1);
    if (!why && !pair->from.port != !pair->to.port)
        why = "with a port on one side alone";
    return why;
}

static bool is_at(const rli_nat_address *place, const char *host, size_t length, int port)
{
    return place->port == port && place->length == length && memcmp(place->host, host, length) == 0;
}

static const rli_nat_address *find(const rli_nat *nat, const char *host, size_t length, int port)
{
    for (size_t i = 0; i < nat->count; i++) {
        if (is_at(&nat->pairs[i].from, host, length, port))
            return &nat->pairs[i].to;
    }
    return NULL;
}

rlock_status rli_nat_read(rli_nat *nat, const char *text)
{
    *nat = (rli_nat){0};
    if (!*text)
        return RLOCK_OK;
    size_t most = 1;
    for (const char *at = text; (at = strchr(at, ',')); at++)
        most++;
    nat->pairs = calloc(most, sizeof *nat->pairs);
    if (!nat->pairs)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for natMap");
    rlock_status status = RLOCK_OK;
    for (const char *at = text; status == RLOCK_OK; at++) {
        struct rli_nat_pair *pair = &nat->pairs[nat->count];
        size_t length = strcspn(at, ",");
        const char *why = read_pair(pair, at, length);
        if (!why && find(nat, pair->from.host, pair->from.length, pair->from.port))
            why = "of which the left side stands before another = already";
        if (why)
            status = wrong(at, length, why);
        nat->count++;
        at += length;
        if (!*at)
            break;
    }
    if (status != RLOCK_OK)
        rli_nat_free(nat);
    return status;
}

void rli_nat_free(rli_nat *nat)
{
    free(nat->pairs);
    *nat = (rli_nat){0};
}

void rli_nat_map(const rli_nat *nat, const char **host, size_t *length, int *port)
{
    const rli_nat_address *to = find(nat, *host, *length, *port);
    if (!to)
        to = find(nat, *host, *length, 0);
    if (!to)
        return;
    *host = to->host;
    *length = to->length;
    if (to->port)
        *port = to->port;
}
