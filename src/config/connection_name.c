/* Connection name: the default name of connections in CLIENT LIST, which leads from an owner to its process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/connection_name.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BEGINNING  "rlock:"
#define HOST_MOST  64 /* HOST_NAME_MAX of Linux */
#define PID_DIGITS 10

static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

void rli_connection_name_write(char name[RLI_CONNECTION_NAME], const char *client_id)
{
    char host[HOST_MOST + 1] = "";
    gethostname(host, HOST_MOST); /* truncated, or empty if the call fails */
    for (char *c = host; *(c += strspn(c, allowed));)
        *c = '_';
    snprintf(name, RLI_CONNECTION_NAME, BEGINNING "%s:%s:%ld", client_id, *host ? host : "_", (long)getpid());
}

/* Reads a word that ends with a colon before `end`, and moves *at behind the colon. False: there is none. */
static bool read_word(const char **at, const char *end, const char **word, size_t *length)
{
    const char *colon = memchr(*at, ':', (size_t)(end - *at));
    if (!colon || colon == *at)
        return false;
    *word = *at;
    *length = (size_t)(colon - *at);
    *at = colon + 1;
    return true;
}

bool rli_connection_name_read(rli_connection_name *parts, const char *name, size_t length)
{
    const char *at = name + sizeof BEGINNING - 1, *end = name + length;
    if (length >= RLI_CONNECTION_NAME || length < sizeof BEGINNING ||
        memcmp(name, BEGINNING, sizeof BEGINNING - 1) != 0)
        return false;
    if (!read_word(&at, end, &parts->client, &parts->client_length) ||
        !read_word(&at, end, &parts->host, &parts->host_length))
        return false;
    if (at == end || end - at > PID_DIGITS)
        return false;
    for (parts->pid = 0; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        parts->pid = parts->pid * 10 + (*at - '0');
    }
    return true;
}
