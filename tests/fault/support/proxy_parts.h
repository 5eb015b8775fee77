/* The parts of the proxy: what the test's side and the process say to each other, its rules, and one
 * connection that passes through it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PROXY_PARTS_H
#define FAULT_PROXY_PARTS_H

#include "tests/fault/support/bytes.h"
#include "tests/fault/support/proxy.h"

#include <poll.h>
#include <sys/un.h>

/* --- orders: one each, answered by one number (proxy.c, proxy_process.c) --- */

typedef enum order_kind {
    ORDER_ADD, ORDER_RELEASE, ORDER_COUNT, ORDER_AWAIT, ORDER_PASS, ORDER_ACCEPT, ORDER_CUT, ORDER_ACCEPTED,
    ORDER_CONNECTED, ORDER_END
} order_kind;

typedef struct order {
    order_kind kind;
    int rule;
    proxy_count_of what;
    int count;
    int64_t ms;
    bool flags[2];
    proxy_rule added; /* its texts are in these */
    char text[PROXY_TEXT], and_text[PROXY_TEXT];
} order;

/* The process's whole life; `control` is the other end of the test's socket. */
/* A listening unix socket, in the place of whatever stands there; -1: errno says why. */
int proxy_listen(const char *path);

_Noreturn void proxy_process(int control, int listener, const char *socket, const char *server_socket);

/* --- rules (rules.c) --- */

typedef struct acting_rule {
    proxy_rule asked;
    char text[PROXY_TEXT], and_text[PROXY_TEXT];
    bool up;
    int counts[PROXY_LATE + 1]; /* by proxy_count_of */
} acting_rule;

typedef struct rule_set {
    acting_rule all[PROXY_RULES];
    int count;
    bool pass_to_server, pass_to_client;
} rule_set;

/* The rules whose texts it has, as bits; counts it for each. *acting: the one that acts; -1: none. */
uint64_t rules_judge(rule_set *rules, bool message, const char *data, size_t length, int *acting);
/* A request of theirs was answered; `kept_by` had kept it; -1: none had. */
void rules_answered(rule_set *rules, uint64_t matched, int kept_by);

/* --- one connection (passage.c) --- */

/* A request whose answer has not come. */
typedef struct asked {
    struct asked *next;
    uint64_t matched;
    int acting, kept_by; /* rules; -1: none */
} asked;

typedef struct passage {
    struct passage *next;
    int client, server; /* -1: closed */
    bytes from_client, to_server, from_server, to_client; /* the from… are not looked at yet */
    size_t judged_request, judged_reply; /* first bytes of the from… which are kept, but judged */
    int held_request, held_reply;        /* by which rule; -1: none */
    int64_t held_until_ms;               /* PROXY_DELAY; 0: until the rule goes */
    uint64_t held_matched;               /* what rules_judge said of the held request */
    asked *first, *last;
    bool subscribed;
    bool ending; /* ends when to_client is empty */
} passage;

passage *passage_open(int client, const char *server_socket); /* NULL: the server is not there */
void passage_close(passage *passage);
/* What it wants poll to say, for client and server. */
void passage_wants(const passage *passage, struct pollfd polled[2]);
/* Reads what has come, passes on what may pass, writes. False: it is over. */
bool passage_step(passage *passage, rule_set *rules, const struct pollfd polled[2], int64_t now_ms);

#endif
