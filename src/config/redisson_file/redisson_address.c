/* Redisson address: a server's address as Redisson's file gives it. It differs from this library's URLs: the
 * port is required, an IPv6 address may have no brackets, a text without a colon before the @ is the
 * password, + means a space, and neither database nor parameters follow. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/redisson_file/redisson_address.h"

#include "base/error.h"
#include "base/host_port.h"
#include "config/percent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *start;
    bool tls, socket;
} schemes[] = {
    {"redis://", false, false},  {"rediss://", true, false},    {"valkey://", false, false},
    {"valkeys://", true, false}, {"redis+uds://", false, true}, {"valkey+uds://", false, true},
};

/* The rest of `text` after its scheme; NULL: not one of Redisson's schemes. */
static const char *read_scheme(const char *text, bool *tls, bool *is_socket)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].start);
        if (strncmp(text, schemes[i].start, length) == 0) {
            *tls = schemes[i].tls;
            *is_socket = schemes[i].socket;
            return text + length;
        }
    }
    return NULL;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c);
}

/* Appends `length` bytes of `text`, encoded so that the reader of URLs restores them. `encoded`: the text may
 * contain percent-encoded bytes, which stay as they are. */
static char *append(char *to, const char *text, size_t length, bool encoded)
{
    for (size_t i = 0; i < length; i++) {
        char c = encoded && text[i] == '+' ? ' ' : text[i];
        if ((c && is_plain(c) && !(encoded && c == '/')) || (encoded && c == '%'))
            *to++ = c;
        else
            to = rli_percent_write(to, c);
    }
    *to = 0;
    return to;
}

/* Appends user:password@ or :password@ for a text that is user:password or password. */
static char *append_user(char *to, const char *user, const char *at)
{
    const char *colon = memchr(user, ':', (size_t)(at - user));
    if (colon)
        to = append(to, user, (size_t)(colon - user), true);
    *to++ = ':';
    const char *password = colon ? colon + 1 : user;
    to = append(to, password, (size_t)(at - password), true);
    *to++ = '@';
    return to;
}

static rlock_status make_url(rli_redisson_address *address, rli_mode mode, const char *text)
{
    const char *scheme = rli_mode_scheme(mode, address->tls);
    /* Encoding may triple the length. */
    address->url = malloc(strlen(scheme) + 3 * strlen(text) + 16);
    return address->url ? RLOCK_OK : rli_fail(RLOCK_NO_MEMORY, "out of memory for an address");
}

static rlock_status read_socket(rli_redisson_address *address, rli_mode mode, const char *text)
{
    if (mode != RLI_SINGLE)
        return rli_fail(RLOCK_INVALID, "the address is a socket's; only singleServerConfig takes that");
    if (*text != '/')
        return rli_fail(RLOCK_INVALID, "the address has no absolute path; write redis+uds:///path/to/redis.sock");
    rlock_status status = make_url(address, mode, text);
    if (status != RLOCK_OK)
        return status;
    strcpy(address->url, "unix://");
    append(address->url + 7, text, strlen(text), false);
    snprintf(address->place, sizeof address->place, "%.150s", text);
    return RLOCK_OK;
}

static rlock_status read_tcp(rli_redisson_address *address, rli_mode mode, const char *text)
{
    rli_host_port place;
    const char *end = text + strcspn(text, "/?#"), *at = memchr(text, '@', (size_t)(end - text));
    if (strchr(at ? at + 1 : end, '@'))
        return rli_fail(RLOCK_INVALID,
                        "the address has more than host and port after its @, or an @, /, ? or # in its password; "
                        "write %%40, %%2F, %%3F and %%23 there");
    const char *host = at ? at + 1 : text, *why = rli_host_port_split(&place, host, (size_t)(end - host));
    if (!why && !place.length)
        why = "has no host";
    if (why)
        return rli_fail(RLOCK_INVALID, "the address %s; write for example redis://host:6379", why);
    rlock_status status = make_url(address, mode, text);
    if (status != RLOCK_OK)
        return status;
    char *to = address->url + sprintf(address->url, "%s://", rli_mode_scheme(mode, address->tls));
    if (at)
        to = append_user(to, text, at);
    bool v6 = memchr(place.host, ':', place.length);
    sprintf(to, v6 ? "[%.*s]:%d" : "%.*s:%d", (int)place.length, place.host, place.port);
    int shown = place.length > 120 ? 120 : (int)place.length;
    snprintf(address->place, sizeof address->place, "%.*s:%d", shown, place.host, place.port);
    address->has_path = *end && strcmp(end, "/") != 0;
    return RLOCK_OK;
}

rlock_status rli_redisson_address_read(rli_redisson_address *address, rli_mode mode, const char *text)
{
    bool is_socket;
    *address = (rli_redisson_address){0};
    const char *rest = read_scheme(text, &address->tls, &is_socket);
    if (!rest)
        return rli_fail(RLOCK_INVALID, "the address does not begin with redis:// or rediss:// (for TLS)");
    rlock_status status = is_socket ? read_socket(address, mode, rest) : read_tcp(address, mode, rest);
    if (status != RLOCK_OK)
        return status;
    /* The reader of URLs checks the host and the percent-encoding. */
    rli_settings probe = {0};
    status = rli_settings_read_server(&probe, address->url, true);
    rli_settings_free(&probe);
    if (status != RLOCK_OK) {
        free(address->url);
        address->url = NULL;
    }
    return status;
}
