/* The parts of the proxy: what the test's side and the process say to each other, its rules, and one
 * connection that passes through it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PROXY_PARTS_H
#define FAULT_PROXY_PARTS_H

#include "tests/fault/support/bytes.h"
#include "tests/fault/support/place.h"
#include "tests/fault/support/proxy.h"

#include <poll.h>

/* --- orders: one each, answered by one number (proxy.c, proxy_process.c) --- */

typedef enum order_kind {
    ORDER_ADD, ORDER_RELEASE, ORDER_COUNT, ORDER_AWAIT, ORDER_PASS, ORDER_ACCEPT, ORDER_CUT, ORDER_ACCEPTED,
    ORDER_CONNECTED, ORDER_DEAFEN, ORDER_LIMIT, ORDER_RESET, ORDER_END
} order_kind;

typedef struct order {
    order_kind kind;
    int rule;
    proxy_count_of what;
    int count;
    int64_t ms;
    bool flags[2];
    int64_t limits[2];
    proxy_rule added; /* its texts are in these */
    char text[PROXY_TEXT], and_text[PROXY_TEXT];
} order;

/* What its process begins with. */
typedef struct proxy_life {
    int control; /* the other end of the test's socket */
    int listener;
    place at, server_at;
} proxy_life;

/* Its whole life: a proxy_life, with which it ends. */
void proxy_process(void *life);

/* --- rules (rules.c) --- */

typedef enum way { TO_SERVER, TO_CLIENT } way;

typedef struct acting_rule {
    proxy_rule asked;
    char text[PROXY_TEXT], and_text[PROXY_TEXT];
    bool up;
    int counts[PROXY_COUNTS]; /* by proxy_count_of */
} acting_rule;

typedef struct rule_set {
    acting_rule all[PROXY_RULES];
    int count;  /* numbers in use */
    int reused; /* the number that was given anew last */
    bool pass_to_server, pass_to_client;
    int64_t limits[2]; /* by way; -1: none */
    bool stalls, resets;
} rule_set;

/* The rules whose texts it has, as bits; counts it for each. *acting: the one that acts; -1: none. */
uint64_t rules_judge(rule_set *rules, bool message, const char *data, size_t length, int *acting);
/* A request of theirs was answered with so many bytes; `kept_by` had kept it; -1: none had. */
void rules_answered(rule_set *rules, uint64_t matched, int kept_by, size_t length);
/* A number for a new rule; -1: all are up. */
int rules_number(rule_set *rules);

/* --- one connection (passage.c) --- */

/* A request whose answer has not come. */
typedef struct asked {
    struct asked *next;
    uint64_t matched;
    int acting, kept_by; /* rules; -1: none */
    bool unsubscribes;
} asked;

typedef enum passage_kind {
    PASSAGE_RESP,
    PASSAGE_SEALED,     /* TLS: bytes without a meaning */
    PASSAGE_REPLICATION /* from PSYNC on: so is this, and it is left alone */
} passage_kind;

typedef struct passage {
    struct passage *next;
    passage_kind kind;
    int client, server; /* -1: closed */
    int64_t passed[2];  /* bytes by way, since the limits were set */
    bytes from_client, to_server, from_server, to_client; /* the from… are not looked at yet */
    size_t judged_request, judged_reply; /* first bytes of the from… which are kept, but judged */
    int held_request, held_reply;        /* by which rule; -1: none */
    int64_t held_until_ms;               /* PROXY_DELAY; 0: until the rule goes */
    uint64_t held_matched;               /* what rules_judge said of the held request */
    asked *first, *last;
    bool subscribed;
    bool ending; /* ends when to_client is empty */
} passage;

passage *passage_open(int client, const place *server_at); /* NULL: the server is not there */
void passage_close(passage *passage, bool resets);
/* What it wants poll to say, for client and server. */
void passage_wants(const passage *passage, const rule_set *rules, struct pollfd polled[2]);
/* Reads what has come, passes on what may pass, writes. False: it is over. */
bool passage_step(passage *passage, rule_set *rules, const struct pollfd polled[2], int64_t now_ms);

/* What was for that rule is for none: its number goes to another. */
void passage_forget(passage *passage, int rule);

#endif
