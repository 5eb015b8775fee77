/* URLs: redis://[user:password@]host[:port][/db]?… and unix:///path?… */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/settings.h"

#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMS "redis://[user:password@]host[:port][/db] or unix:///path[?db=n]"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Decodes %XX in place. `what` is named on failure, its text is not: it may be a password. */
static rlock_status decode(char *text, const char *what)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        int high = hex_digit(from[1]), low = high < 0 ? -1 : hex_digit(from[2]);
        int byte = low < 0 ? 0 : high * 16 + low;
        if (byte == 0)
            return rli_fail(RLOCK_INVALID, "the %s in the URL has a %% that is not followed by two "
                            "hex digits (other than 00); write %%25 for %% itself", what);
        *to++ = (char)byte;
        from += 2;
    }
    *to = 0;
    return RLOCK_OK;
}

static rlock_status take(char **field, const char *text, size_t length, const char *what)
{
    rlock_status status = rli_settings_copy(field, text, length);
    return status == RLOCK_OK ? decode(*field, what) : status;
}

static rlock_status read_user(rli_settings *settings, const char *user, size_t length)
{
    const char *colon = memchr(user, ':', length);
    if (!colon)
        return rli_fail(RLOCK_INVALID, "the URL has \"…@\" without a colon before it; write "
                        "user:password@ or :password@");
    size_t name_length = (size_t)(colon - user);
    rlock_status status = take(&settings->password, colon + 1, length - name_length - 1, "password");
    if (status == RLOCK_OK && name_length)
        status = take(&settings->username, user, name_length, "user");
    return status;
}

/* Its text is not shown: without the @ behind it, a password stands where the port does. */
static rlock_status read_port(rli_address *at, const char *text, size_t length)
{
    int port = 0;
    for (size_t i = 0; i < length && port <= 65535; i++)
        port = text[i] >= '0' && text[i] <= '9' ? port * 10 + (text[i] - '0') : 65536;
    if (port < 1 || port > 65535)
        return rli_fail(RLOCK_INVALID, "the port in the URL is not a number from 1 to 65535; if that is a password, "
                        "@host is missing behind it");
    at->port = port;
    return RLOCK_OK;
}

/* host, host:port, [v6] or [v6]:port */
static rlock_status read_place(rli_settings *settings, const char *place, size_t length)
{
    rli_address *at = rli_settings_add_address(settings);
    if (!at)
        return RLOCK_NO_MEMORY;
    const char *end = place + length, *host = place, *host_end, *colon;
    if (length && *place == '[') {
        host = place + 1;
        host_end = memchr(host, ']', length - 1);
        if (!host_end)
            return rli_fail(RLOCK_INVALID, "the URL's host starts with [ but has no ]");
        colon = host_end + 1;
        if (colon < end && *colon != ':')
            return rli_fail(RLOCK_INVALID, "the URL has something other than :port after ]");
    } else {
        colon = memchr(place, ':', length);
        host_end = colon ? colon : end;
        colon = host_end;
    }
    if (host_end == host)
        return rli_fail(RLOCK_INVALID, "the URL names no host; write %s", FORMS);
    rlock_status status = take(&at->host, host, (size_t)(host_end - host), "host");
    at->port = 6379;
    if (status == RLOCK_OK && colon < end)
        status = read_port(at, colon + 1, (size_t)(end - colon - 1));
    if (status == RLOCK_OK)
        snprintf(at->text, sizeof at->text, "%.120s:%d", at->host, at->port);
    return status;
}

static rlock_status read_query(rli_settings *settings, const char *query)
{
    rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK && *query) {
        size_t length = strcspn(query, "&");
        const char *equals = memchr(query, '=', length);
        if (!equals)
            return rli_fail(RLOCK_INVALID, "\"%.*s\" in the URL has no value; write name=value",
                            (int)(length > 40 ? 40 : length), query);
        char *name = NULL, *value = NULL;
        status = take(&name, query, (size_t)(equals - query), "name of a parameter");
        if (status == RLOCK_OK)
            status = take(&value, equals + 1, length - (size_t)(equals - query) - 1, "value of a parameter");
        if (status == RLOCK_OK)
            status = rli_settings_set(settings, strcmp(name, "db") == 0 ? "database" : name, value);
        free(name);
        free(value);
        query += length;
        if (*query)
            query++;
    }
    return status;
}

static rlock_status read_tcp(rli_settings *settings, const char *rest)
{
    size_t length = strcspn(rest, "/?");
    const char *place = rest, *end = rest + length;
    /* Else parts of a password would be taken for a port or a parameter, and shown in a message. */
    if (strchr(end, '@'))
        return rli_fail(RLOCK_INVALID, "the URL has an @ behind a / or ?; write %%2F and %%3F for those in a user "
                        "or password, and %%40 for an @ in a parameter");
    for (const char *at = rest; at < end; at++) {
        if (*at == '@')
            place = at + 1; /* the last one: passwords may hold an @ */
    }
    rlock_status status = RLOCK_OK;
    if (place > rest)
        status = read_user(settings, rest, (size_t)(place - rest) - 1);
    if (status == RLOCK_OK)
        status = read_place(settings, place, (size_t)(end - place));
    if (status == RLOCK_OK && *end == '/') {
        length = strcspn(end + 1, "?");
        char *database = NULL;
        if (length)
            status = take(&database, end + 1, length, "database");
        if (status == RLOCK_OK && length)
            status = rli_settings_set(settings, "database", database);
        free(database);
        end += 1 + length;
    }
    if (status == RLOCK_OK && *end == '?')
        status = read_query(settings, end + 1);
    return status;
}

static rlock_status read_unix(rli_settings *settings, const char *rest)
{
    size_t length = strcspn(rest, "?");
    if (length < 2 || *rest != '/')
        return rli_fail(RLOCK_INVALID, "a unix URL needs an absolute path: unix:///path/to/redis.sock");
    rli_address *at = rli_settings_add_address(settings);
    if (!at)
        return RLOCK_NO_MEMORY;
    rlock_status status = take(&at->socket_path, rest, length, "path");
    if (status == RLOCK_OK && strlen(at->socket_path) > 107)
        return rli_fail(RLOCK_INVALID, "the socket's path is %zu bytes long; 107 is the system's limit",
                        strlen(at->socket_path));
    if (status == RLOCK_OK)
        snprintf(at->text, sizeof at->text, "%.150s", at->socket_path);
    if (status == RLOCK_OK && rest[length] == '?')
        status = read_query(settings, rest + length + 1);
    return status;
}

rlock_status rli_settings_read_url(rli_settings *settings, const char *url)
{
    static const char *const later[] = {"rediss://", "redis-sentinel://", "redis-cluster://"};

    if (strncmp(url, "redis://", 8) == 0)
        return read_tcp(settings, url + 8);
    if (strncmp(url, "unix://", 7) == 0)
        return read_unix(settings, url + 7);
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        if (strncmp(url, later[i], strlen(later[i])) == 0)
            return rli_fail(RLOCK_UNSUPPORTED, "%s is not supported by this version; use %s", later[i], FORMS);
    }
    return rli_fail(RLOCK_INVALID, "the URL does not start with a known scheme; write %s", FORMS);
}
