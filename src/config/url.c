/* URLs of servers: redis-sentinel://[user:password@]host[:port],…[/db]?… and similar, and unix:///path?… */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/settings.h"

#include "base/error.h"
#include "base/host_port.h"
#include "config/hint.h"
#include "config/percent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMS                                                                                                          \
    "redis://[user:password@]host[:port][/db], rediss:// for TLS, unix:///path[?db=n], "                               \
    "redis-sentinel://host,…?masterName=…, redis-cluster://host,…, redis-master-slave://master,replica,… "     \
    "or redis-replicated://host,…"

static const struct scheme {
    const char *name, *with_tls;
    rli_mode mode;
    int port; /* if the URL has none */
} schemes[] = {
    {"redis", "rediss", RLI_SINGLE, 6379},
    {"redis-sentinel", "rediss-sentinel", RLI_SENTINEL, 26379},
    {"redis-cluster", "rediss-cluster", RLI_CLUSTER, 6379},
    {"redis-replicated", "rediss-replicated", RLI_REPLICATED, 6379},
    {"redis-master-slave", "rediss-master-slave", RLI_MASTER_SLAVE, 6379},
};
#define SCHEME_COUNT (sizeof schemes / sizeof *schemes)

const char *rli_mode_scheme(rli_mode mode, bool tls)
{
    size_t i = 0;
    while (schemes[i].mode != mode)
        i++;
    return tls ? schemes[i].with_tls : schemes[i].name;
}

/* The scheme of `url`, and in *rest what follows it; NULL: not one of these schemes. */
static const struct scheme *find_scheme(const char *url, bool *tls, const char **rest)
{
    const char *end = strstr(url, "://");
    size_t length = end ? (size_t)(end - url) : 0;
    for (size_t i = 0; end && i < SCHEME_COUNT; i++) {
        const char *names[] = {schemes[i].name, schemes[i].with_tls};
        for (int secure = 0; secure < 2; secure++) {
            if (strlen(names[secure]) == length && memcmp(names[secure], url, length) == 0) {
                *tls = secure;
                *rest = end + 3;
                return &schemes[i];
            }
        }
    }
    return NULL;
}

/* Decodes %XX in place. A failure names `what` but does not show the text, which may be a password. */
static rlock_status decode(char *text, const char *what)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        char byte = rli_percent_byte(from);
        if (!byte)
            return rli_fail(RLOCK_INVALID,
                            "the %s in the URL has a %% that is not followed by two "
                            "hex digits (other than 00); write %%25 for %% itself",
                            what);
        *to++ = byte;
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

static rlock_status read_user(char **username, char **password, const char *user, size_t length)
{
    const char *colon = memchr(user, ':', length);
    if (!colon)
        return rli_fail(RLOCK_INVALID, "the URL has \"…@\" without a colon before it; write "
                                       "user:password@ or :password@");
    size_t name_length = (size_t)(colon - user);
    rlock_status status = take(password, colon + 1, length - name_length - 1, "password");
    if (status == RLOCK_OK && name_length)
        status = take(username, user, name_length, "user");
    return status;
}

/* The message does not show the text: it may be a password behind which @host is missing. */
static rlock_status check_host(const char *host, bool v6)
{
    const char *marks = v6 ? ".:%-_" : ".-_"; /* for example fe80::1%eth0 */
    for (const char *at = host; *at; at++) {
        bool is_word = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if (!is_word && !strchr(marks, *at) && (unsigned char)*at < 0x80)
            return rli_fail(
                RLOCK_INVALID,
                "the host in the URL has a character that host names do not have; if that is a password, write :password@host");
    }
    return RLOCK_OK;
}

/* Reads host, host:port, [v6] or [v6]:port. `user`: a user or password precedes it. The message does not show the text:
 * if the @ behind a password is missing, the password is in the place of the port. */
static rlock_status read_place(rli_settings *settings, const struct scheme *scheme, const char *text, size_t length,
                               bool user)
{
    rli_host_port place;
    rli_address *at = rli_settings_add_address(settings);
    if (!at)
        return RLOCK_NO_MEMORY;
    const char *why = rli_host_port_read(&place, text, length);
    if (why)
        return rli_fail(RLOCK_INVALID,
                        "the server in the URL %s; it must be host, host:port or [IPv6 address]:port, and a password "
                        "needs @host after it",
                        why);
    rlock_status status = take(&at->host, place.host, place.length, "host");
    if (status == RLOCK_OK)
        status = check_host(at->host, *text == '[');
    if (status != RLOCK_OK)
        return status;
    at->sentinel = scheme->mode == RLI_SENTINEL;
    at->port = place.port ? place.port : scheme->port;
    at->alone = !user && !place.port && *text != '[';
    snprintf(at->text, sizeof at->text, "%.120s:%d", at->host, at->port);
    return RLOCK_OK;
}

/* Reads host[:port],host[:port]…; `user` as in read_place. */
static rlock_status read_places(rli_settings *settings, const struct scheme *scheme, const char *places,
                                const char *end, bool user)
{
    rlock_status status = RLOCK_OK;
    for (const char *comma; status == RLOCK_OK; places = comma + 1) {
        comma = memchr(places, ',', (size_t)(end - places));
        if (comma && scheme->mode == RLI_SINGLE)
            return rli_fail(RLOCK_INVALID, "the URL has several servers; redis:// takes one: write redis-sentinel://, "
                                           "redis-cluster://, redis-master-slave:// or redis-replicated://");
        if (!comma)
            return read_place(settings, scheme, places, (size_t)(end - places), user);
        status = read_place(settings, scheme, places, (size_t)(comma - places), user);
    }
    return status;
}

/* Without TLS such settings would be ignored, and the connection would not be as safe as the URL seems to ask for. */
static rlock_status check_tls(const rli_settings *settings, const char *name)
{
    if (settings->tls.on || strncmp(name, "ssl", 3) != 0)
        return RLOCK_OK;
    return rli_fail(RLOCK_INVALID,
                    "%s is given, but the URL is without TLS; begin it with rediss://, or rediss-sentinel:// and so on",
                    name);
}

/* After a parameter that holds a password, names and values may be parts of that password, split by an & that
 * was not encoded. So no message shows them. */
static rlock_status read_query(rli_settings *settings, const char *query)
{
    rlock_status status = RLOCK_OK;
    bool behind_secret = false;
    while (status == RLOCK_OK && *query) {
        size_t length = strcspn(query, "&");
        const char *equals = memchr(query, '=', length);
        if (!equals)
            return rli_fail(RLOCK_INVALID,
                            "the URL has a parameter without a value; write name=value, and %%26 for an & in a value");
        char *name = NULL, *value = NULL;
        status = take(&name, query, (size_t)(equals - query), "name of a parameter");
        if (status == RLOCK_OK)
            status = take(&value, equals + 1, length - (size_t)(equals - query) - 1, "value of a parameter");
        if (status == RLOCK_OK)
            status = rli_settings_set(settings, strcmp(name, "db") == 0 ? "database" : name, value, !behind_secret);
        if (status == RLOCK_OK)
            status = check_tls(settings, name);
        behind_secret = behind_secret || (name && strstr(name, "Password"));
        free(name);
        free(value);
        query += length;
        if (*query)
            query++;
    }
    return status;
}

/* Sets *end to the end of the part with user and servers, and *places to where its servers begin. */
static rlock_status find_places(const struct scheme *scheme, const char *rest, const char **places, const char **end)
{
    *places = rest;
    *end = rest + strcspn(rest, "/?");
    /* Otherwise parts of a password would be taken for a port or a parameter, and shown in a message. */
    if (strchr(*end, '@'))
        return rli_fail(RLOCK_INVALID, "the URL has an @ after a / or ?; write %%2F and %%3F for those in a user or "
                                       "password, and %%40 for an @ in a parameter");
    int count = 0;
    for (const char *at = rest; at < *end; at++) {
        if (*at == '@') {
            *places = at + 1; /* after the last @: a password may contain an @ */
            count++;
        }
    }
    /* Otherwise the first servers of a list would be taken for a part of the password. */
    if (count > 1 && scheme->mode != RLI_SINGLE)
        return rli_fail(RLOCK_INVALID, "the URL has more than one @; one user:password@ is for all servers (write "
                                       "%%40 for an @ in it); the addresses of rlock_config take one each");
    if (memchr(*places, '&', strcspn(*places, "?")))
        return rli_fail(RLOCK_INVALID, "the URL has an & before any ?; write ?name=value for the first parameter, and "
                                       "@host after a password that has an &");
    return RLOCK_OK;
}

static rlock_status read_tcp(rli_settings *settings, const struct scheme *scheme, const char *rest)
{
    const char *places, *end;
    rlock_status status = find_places(scheme, rest, &places, &end);
    if (status == RLOCK_OK && places > rest)
        status = read_user(&settings->username, &settings->password, rest, (size_t)(places - rest) - 1);
    if (status == RLOCK_OK)
        status = read_places(settings, scheme, places, end, places > rest);
    if (status == RLOCK_OK && *end == '/') {
        size_t length = strcspn(end + 1, "?");
        char *database = NULL;
        if (length && scheme->mode == RLI_SENTINEL && strspn(end + 1, "-0123456789") != length)
            return rli_fail(
                RLOCK_INVALID,
                "the text after the sentinels' / is not the number of a database; write the master's name as ?masterName=");
        if (length)
            status = take(&database, end + 1, length, "database");
        if (status == RLOCK_OK && length)
            status = rli_settings_set(settings, "database", database, true);
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

static const char *scheme_name(size_t i)
{
    if (i == 2 * SCHEME_COUNT)
        return "unix";
    return i < 2 * SCHEME_COUNT ? (i % 2 ? schemes[i / 2].with_tls : schemes[i / 2].name) : NULL;
}

/* The message does not show the text: it may be a password. */
static rlock_status no_scheme(const char *url)
{
    char given[40], hint[RLI_HINT_SHOWN] = "";
    const char *end = strstr(url, "://");
    if (end && (size_t)(end - url) < sizeof given) {
        snprintf(given, sizeof given, "%.*s", (int)(end - url), url);
        rli_hint(given, scheme_name, hint);
    }
    return rli_fail(RLOCK_INVALID, "the URL does not start with a known scheme%s; write %s", hint, FORMS);
}

rlock_status rli_settings_read_url(rli_settings *settings, const char *url)
{
    const char *rest;
    if (strncmp(url, "unix://", 7) == 0)
        return read_unix(settings, url + 7);
    const struct scheme *scheme = find_scheme(url, &settings->tls.on, &rest);
    if (!scheme)
        return no_scheme(url);
    settings->mode = scheme->mode;
    return read_tcp(settings, scheme, rest);
}

/* Reads a single server with its user. */
static rlock_status read_one(rli_settings *settings, const struct scheme *scheme, const char *rest)
{
    const char *place, *end;
    rlock_status status = find_places(scheme, rest, &place, &end);
    if (status == RLOCK_OK &&
        (memchr(place, ',', (size_t)(end - place)) || strcmp(*end == '/' ? end + 1 : end, "") != 0))
        return rli_fail(
            RLOCK_INVALID,
            "each of rlock_config's addresses names one server and nothing else; set database and parameters in their own fields");
    if (status == RLOCK_OK)
        status = read_place(settings, scheme, place, (size_t)(end - place), place > rest);
    if (status != RLOCK_OK || place == rest)
        return status;
    rli_address *at = &settings->addresses[settings->address_count - 1];
    return read_user(&at->username, &at->password, rest, (size_t)(place - rest) - 1);
}

rlock_status rli_settings_read_server(rli_settings *settings, const char *url, bool first)
{
    const char *rest = NULL;
    bool tls = false, is_unix = strncmp(url, "unix://", 7) == 0;
    const struct scheme *scheme = is_unix ? &schemes[0] : find_scheme(url, &tls, &rest);
    if (!scheme)
        return no_scheme(url);
    if (!first && scheme->mode == RLI_SINGLE)
        return rli_fail(RLOCK_INVALID, "several addresses; redis:// and unix:// take one: write redis-sentinel://, "
                                       "redis-cluster://, redis-master-slave:// or redis-replicated://");
    if (!first && (settings->mode != scheme->mode || settings->tls.on != tls))
        return rli_fail(RLOCK_INVALID,
                        "one of the addresses begins with %s://, another with %s://; all must begin "
                        "alike",
                        rli_mode_scheme(settings->mode, settings->tls.on), rli_mode_scheme(scheme->mode, tls));
    settings->mode = scheme->mode;
    settings->tls.on = tls;
    return is_unix ? read_unix(settings, url + 7) : read_one(settings, scheme, rest);
}
