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
    return rli_fail(RLOCK_INVALID, "natMap has \"%.*s\", which %s; " EXAMPLE, (int)(length > 80 ? 80 : length), text,
                    why);
}

/* Parses one side of a pair. Returns what is wrong with it, or NULL. */
static const char *read_place(rli_host_port *place, const char *text, size_t length)
{
    const char *why = rli_host_port_read(place, text, length);
    for (size_t i = 0; !why && i < place->length; i++) {
        if (strchr(" \t\r\n", place->host[i]))
            why = "has white space in it";
    }
    return why;
}

static const char *read_pair(struct rli_nat_pair *pair, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    if (!equals)
        return "has no =";
    if (memchr(equals + 1, '=', length - (size_t)(equals - text) - 1))
        return "has more than one =";
    const char *why = read_place(&pair->from, text, (size_t)(equals - text));
    if (!why)
        why = read_place(&pair->to, equals + 1, length - (size_t)(equals - text) - 1);
    if (!why && !pair->from.port != !pair->to.port)
        why = "has a port on one side only";
    return why;
}

static bool is_at(const rli_host_port *place, const char *host, size_t length, int port)
{
    return place->port == port && place->length == length && memcmp(place->host, host, length) == 0;
}

static const rli_host_port *find(const rli_nat *nat, const char *host, size_t length, int port)
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
            why = "has the left side of an earlier pair";
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
    const rli_host_port *to = find(nat, *host, *length, *port);
    if (!to)
        to = find(nat, *host, *length, 0);
    if (!to)
        return;
    *host = to->host;
    *length = to->length;
    if (to->port)
        *port = to->port;
}
