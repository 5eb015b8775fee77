/* Host and port in text: host, host:port, [IPv6 address] or [IPv6 address]:port.
 *
 * Built into both the library and the command. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HOST_PORT_H
#define RLI_HOST_PORT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rli_host_port {
    const char *host; /* inside the text, without brackets */
    size_t length;
    int port; /* 0: none is given */
} rli_host_port;

/* Parses the first `length` bytes of `text`. Returns NULL, or says what is wrong, in words that follow the name of the
 * text: "has no host". Does not check which characters the host has. */
const char *rli_host_port_read(rli_host_port *place, const char *text, size_t length);

/* Splits host:port at the last colon, as servers and Redisson write it: an IPv6 address may have no brackets. Sets all
 * of *place; the host may be empty. Returns as rli_host_port_read does. */
const char *rli_host_port_split(rli_host_port *place, const char *text, size_t length);

/* The port number that `length` bytes of `text` are; 0: they are not a number from 1 to 65535. */
int rli_port_read(const char *text, size_t length);

/* Whether `host` is a name, as opposed to an IPv4 or IPv6 address. */
bool rli_host_is_name(const char *host);

#endif
