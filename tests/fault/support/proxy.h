/* The fault proxy: a process between the library and the fixture's server that keeps, delays, cuts or
 * shortens what passes through it, as the test says. Only bytes of the two pass; none are made up. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PROXY_H
#define FAULT_PROXY_H

#include "tests/support/server.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct proxy proxy;

/* Listens on a unix socket beside the server's and connects to the server once for each connection
 * that it accepts. Start it before the test has threads. It ends with the test's process. */
proxy *proxy_start(const server *behind);
/* The same on a free loopback port, before the server's port. A connection that begins as TLS does
 * passes as bytes without a meaning: rules do not see it, all else below is about it, too. One over
 * which a replica gets its master's data (without TLS) passes whatever the test says. */
proxy *proxy_start_port(const server *behind);
void proxy_stop(proxy *proxy); /* NULL allowed; before the server is stopped */
const char *proxy_socket(const proxy *proxy);
int proxy_port(const proxy *proxy);

/* What becomes of a request. Answers to earlier requests of the connection still pass. */
typedef enum proxy_act {
    PROXY_NOTE,         /* passes; it is counted */
    PROXY_HOLD_REQUEST, /* it and all behind it are kept, also when the client hangs up meanwhile;
                           proxy_release sends them to the server */
    PROXY_HOLD_REPLY,   /* it passes; its answer and all behind that are kept until proxy_release */
    PROXY_CUT_BEFORE,   /* the connection is cut, the request thrown away, but for the first `amount` bytes */
    PROXY_CUT_AFTER,    /* it passes; the connection is cut when its answer has come, which is thrown
                           away, but for the first `amount` bytes */
    PROXY_DELAY         /* it and all behind it are kept for `amount` ms */
} proxy_act;

typedef struct proxy_rule {
    proxy_act act;
    const char *text, *and_text; /* what a request must contain; NULL: anything */
    bool messages;               /* not requests, but messages that the server publishes: CUT_AFTER, NOTE */
    int skip;                    /* so many are left alone first */
    int times;                   /* how many are then acted on; 0: all */
    int64_t amount;
} proxy_rule;

#define PROXY_RULES 64 /* of one proxy at a time */
#define PROXY_TEXT 256 /* the longest text, with its end */

/* Puts a rule up; of several that want to act on a request, the oldest does. Gives its number: after
 * PROXY_RULES of them that of one that was taken down, which then goes before those of higher numbers. */
int proxy_add(proxy *proxy, const proxy_rule *rule);
/* Takes the rule down; what it keeps goes on its way. Its counts stay, until another has its number. */
void proxy_release(proxy *proxy, int rule);

typedef enum proxy_count_of {
    PROXY_SEEN,     /* requests (or messages) that had the rule's texts */
    PROXY_ANSWERED, /* of these, what the server has answered, and so has run */
    PROXY_ACTED,    /* of these, what the rule has acted on */
    PROXY_LATE,     /* requests that the rule kept, and that the server has answered since */
    PROXY_REQUEST_BYTES, /* of the request that came first after those it skips: its length, */
    PROXY_REPLY_BYTES,   /* and that of its answer */
    PROXY_COUNTS
} proxy_count_of;
int proxy_count(proxy *proxy, int rule, proxy_count_of what);
/* Waits until it is `count` at least; false: not within ms. One thread of the test at a time. */
bool proxy_await(proxy *proxy, int rule, proxy_count_of what, int count, int64_t ms);

/* All connections, also those to come: nothing passes in a direction that is not open. What is
 * kept passes when it is opened again. */
void proxy_pass(proxy *proxy, bool to_server, bool to_client);
/* Whether it accepts connections; else they are refused, as by a server that is not there. */
void proxy_accept(proxy *proxy, bool accepts);
/* Hears nothing more: who wants to connect waits in vain, as for a machine that is gone. On a port alone. */
void proxy_deafen(proxy *proxy, bool deaf);
/* From now on each connection, also those to come, passes so many more bytes in a direction, and is then
 * cut, or (stalls) passes no more in that direction until another limit is set; -1: no limit. */
void proxy_limit(proxy *proxy, int64_t to_server, int64_t to_client, bool stalls);
/* How connections on a port are cut from now on: by a reset, which throws away what the client has not
 * read; else orderly, as at first. */
void proxy_reset(proxy *proxy, bool resets);
/* Cuts all connections, or those that have subscribed to something; throws away what it keeps. */
void proxy_cut(proxy *proxy);
void proxy_cut_subscribers(proxy *proxy);

/* How many connections were accepted so far; how many clients are connected now. */
int proxy_accepted(proxy *proxy);
int proxy_connected(proxy *proxy);

#endif
