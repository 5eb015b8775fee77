/* A passage: one connection that passes through the proxy, request by request and reply by reply. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy_parts.h"
#include "tests/fault/support/resp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

passage *passage_open(int client, const place *server_at)
{
    int upstream = place_connect(server_at);
    if (upstream < 0)
        return NULL;
    place_hasten(client);
    fcntl(client, F_SETFL, O_NONBLOCK);
    fcntl(upstream, F_SETFL, O_NONBLOCK);
    passage *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->client = client;
    self->server = upstream;
    self->held_request = self->held_reply = -1;
    return self;
}

static void hang_up(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static asked *next_asked(passage *self)
{
    asked *first = self->first;
    if (first)
        self->first = first->next;
    if (!self->first)
        self->last = NULL;
    return first;
}

static void forget_asked(passage *self)
{
    for (asked *one; (one = next_asked(self));)
        free(one);
}

void passage_close(passage *self, bool resets)
{
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    if (resets && self->client >= 0)
        setsockopt(self->client, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    hang_up(&self->client);
    hang_up(&self->server);
    bytes_free(&self->from_client);
    bytes_free(&self->to_server);
    bytes_free(&self->from_server);
    bytes_free(&self->to_client);
    forget_asked(self);
    free(self);
}

/* --- reading and writing --- */

static void read_all(int *fd, bytes *to)
{
    char data[16384];
    for (;;) {
        ssize_t n = recv(*fd, data, sizeof data, MSG_DONTWAIT);
        if (n > 0) {
            bytes_add(to, data, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            hang_up(fd);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

/* How many more bytes may pass that way. */
static size_t allowed(const passage *self, const rule_set *rules, way to)
{
    int64_t limit = self->kind == PASSAGE_REPLICATION ? -1 : rules->limits[to];
    return limit < 0 ? SIZE_MAX : self->passed[to] >= limit ? 0 : (size_t)(limit - self->passed[to]);
}

static void write_all(passage *self, const rule_set *rules, way to)
{
    int *fd = to == TO_SERVER ? &self->server : &self->client;
    bytes *from = to == TO_SERVER ? &self->to_server : &self->to_client;
    size_t length;
    while (*fd >= 0 && (length = allowed(self, rules, to)) > 0 && from->length > 0) {
        length = from->length < length ? from->length : length;
        ssize_t n = send(*fd, from->data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n >= 0) {
            bytes_take(from, (size_t)n);
            self->passed[to] += n;
        } else if (errno == EAGAIN)
            return;
        else if (errno != EINTR)
            hang_up(fd);
    }
}

static bool is_cut_by_limit(const passage *self, const rule_set *rules)
{
    return !rules->stalls && (allowed(self, rules, TO_SERVER) == 0 || allowed(self, rules, TO_CLIENT) == 0);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- requests --- */

static bool is_holding(const rule_set *rules, int rule)
{
    return rule >= 0 && rules->all[rule].up;
}

/* Whether the request's command has that in its name. */
static bool begins_with(const passage *self, size_t length, const char *name)
{
    return memmem(self->from_client.data, length < 24 ? length : 24, name, strlen(name)) != NULL;
}

static void pass_request(passage *self, size_t length, const asked *about)
{
    asked *one = malloc(sizeof *one);
    if (!one)
        abort();
    *one = *about;
    if (self->last)
        self->last->next = one;
    else
        self->first = one;
    self->last = one;
    if (begins_with(self, length, "SUBSCRIBE"))
        self->subscribed = true;
    one->unsubscribes = begins_with(self, length, "UNSUBSCRIBE");
    if (begins_with(self, length, "PSYNC"))
        self->kind = PASSAGE_REPLICATION;
    bytes_move(&self->from_client, &self->to_server, length);
}

/* False: the passage is cut. */
static bool judge_request(passage *self, rule_set *rules, size_t length, int64_t now_ms)
{
    int acting;
    uint64_t matched = rules_judge(rules, false, self->from_client.data, length, &acting);
    const proxy_rule *rule = acting < 0 ? NULL : &rules->all[acting].asked;
    if (rule && rule->act == PROXY_CUT_BEFORE) {
        bytes_move(&self->from_client, &self->to_server, least((size_t)rule->amount, length));
        write_all(self, rules, TO_SERVER);
        return false;
    }
    if (rule && (rule->act == PROXY_HOLD_REQUEST || rule->act == PROXY_DELAY)) {
        self->held_request = acting;
        self->held_until_ms = rule->act == PROXY_DELAY ? now_ms + rule->amount : 0;
        self->judged_request = length;
        self->held_matched = matched;
        return true;
    }
    pass_request(self, length, &(asked){.matched = matched, .acting = acting, .kept_by = -1});
    return true;
}

static bool still_held(passage *self, const rule_set *rules, int64_t now_ms)
{
    if (self->held_request < 0)
        return false;
    if (is_holding(rules, self->held_request) && (!self->held_until_ms || now_ms < self->held_until_ms))
        return true;
    pass_request(self, self->judged_request,
                 &(asked){.matched = self->held_matched, .acting = -1, .kept_by = self->held_request});
    self->held_request = -1;
    return false;
}

static bool pass_requests(passage *self, rule_set *rules, int64_t now_ms)
{
    while (self->kind == PASSAGE_RESP && rules->pass_to_server && !still_held(self, rules, now_ms)) {
        ssize_t length = resp_length(self->from_client.data, self->from_client.length);
        if (length <= 0)
            return length == 0;
        if (!judge_request(self, rules, (size_t)length, now_ms))
            return false;
    }
    return true;
}

/* --- replies --- */

static bool is_kind(const passage *self, size_t length, const char *head)
{
    return length > strlen(head) && memcmp(self->from_server.data, head, strlen(head)) == 0;
}

static bool is_message(const passage *self, size_t length)
{
    return self->subscribed && (is_kind(self, length, "*3\r\n$7\r\nmessage\r\n") ||
                                is_kind(self, length, "*3\r\n$8\r\nsmessage\r\n"));
}

/* A channel that has moved to another node of the cluster is taken from its subscribers unasked. */
static bool is_farewell(const passage *self, size_t length)
{
    return is_kind(self, length, "*3\r\n$12\r\nsunsubscribe\r\n") && !(self->first && self->first->unsubscribes);
}

/* Which rule acts on the reply or message that has come; -1: none. */
static int judge_reply(passage *self, rule_set *rules, size_t length)
{
    int acting = -1;
    if (is_message(self, length)) {
        rules_judge(rules, true, self->from_server.data, length, &acting);
        return acting;
    }
    asked *one = is_farewell(self, length) ? NULL : next_asked(self);
    if (!one)
        return -1;
    rules_answered(rules, one->matched, one->kept_by, length);
    acting = one->acting;
    free(one);
    return acting;
}

static void pass_reply(passage *self, rule_set *rules, size_t length)
{
    int acting = judge_reply(self, rules, length);
    const acting_rule *rule = acting < 0 ? NULL : &rules->all[acting];
    if (rule && rule->asked.act == PROXY_CUT_AFTER) {
        bytes_move(&self->from_server, &self->to_client, least((size_t)rule->asked.amount, length));
        self->ending = true;
    } else if (rule && rule->asked.act == PROXY_HOLD_REPLY && rule->up) {
        self->held_reply = acting;
        self->judged_reply = length;
    } else {
        bytes_move(&self->from_server, &self->to_client, length);
    }
}

static bool pass_replies(passage *self, rule_set *rules)
{
    while (self->kind == PASSAGE_RESP && rules->pass_to_client && !self->ending) {
        if (is_holding(rules, self->held_reply))
            return true;
        if (self->held_reply >= 0) {
            self->held_reply = -1;
            bytes_move(&self->from_server, &self->to_client, self->judged_reply);
        }
        ssize_t length = resp_length(self->from_server.data, self->from_server.length);
        if (length <= 0)
            return length == 0;
        pass_reply(self, rules, (size_t)length);
    }
    return true;
}

/* --- a rule whose number is given to another --- */

void passage_forget(passage *self, int rule)
{
    for (asked *one = self->first; one; one = one->next) {
        one->matched &= ~(UINT64_C(1) << rule);
        one->acting = one->acting == rule ? -1 : one->acting;
        one->kept_by = one->kept_by == rule ? -1 : one->kept_by;
    }
    self->held_matched &= ~(UINT64_C(1) << rule);
}

/* --- bytes without a meaning --- */

#define TLS_HANDSHAKE 0x16 /* the first byte of a connection */

static void pass_unseen(passage *self, const rule_set *rules)
{
    bool first = !self->first && !self->to_server.length && self->held_request < 0;
    if (self->kind == PASSAGE_RESP && first && self->from_client.length && *self->from_client.data == TLS_HANDSHAKE)
        self->kind = PASSAGE_SEALED;
    if (self->kind == PASSAGE_RESP)
        return;
    forget_asked(self);
    if (rules->pass_to_server || self->kind == PASSAGE_REPLICATION)
        bytes_move(&self->from_client, &self->to_server, self->from_client.length);
    if (rules->pass_to_client || self->kind == PASSAGE_REPLICATION)
        bytes_move(&self->from_server, &self->to_client, self->from_server.length);
}

/* --- the whole --- */

void passage_wants(const passage *self, const rule_set *rules, struct pollfd polled[2])
{
    polled[0] = (struct pollfd){.fd = self->client, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = self->server, .events = POLLIN};
    if (self->to_client.length && allowed(self, rules, TO_CLIENT))
        polled[0].events |= POLLOUT;
    if (self->to_server.length && allowed(self, rules, TO_SERVER))
        polled[1].events |= POLLOUT;
}

/* A client that has hung up still has its requests run; a server that has, its replies read. */
static bool is_over(const passage *self, const rule_set *rules)
{
    bool asking = self->held_request >= 0 || self->to_server.length || self->first ||
                  (!rules->pass_to_server && self->from_client.length);
    bool telling = self->to_client.length ||
                   ((self->held_reply >= 0 || !rules->pass_to_client) && self->from_server.length);
    if (self->client < 0 && self->server < 0)
        return true;
    if (self->ending)
        return self->client < 0 || self->to_client.length == 0;
    return (self->client < 0 && !asking) || (self->server < 0 && !telling);
}

bool passage_step(passage *self, rule_set *rules, const struct pollfd polled[2], int64_t now_ms)
{
    if (self->client >= 0 && polled[0].revents & (POLLIN | POLLHUP | POLLERR))
        read_all(&self->client, &self->from_client);
    if (self->server >= 0 && polled[1].revents & (POLLIN | POLLHUP | POLLERR))
        read_all(&self->server, &self->from_server);
    pass_unseen(self, rules);
    if (!pass_requests(self, rules, now_ms) || !pass_replies(self, rules))
        return false;
    pass_unseen(self, rules); /* what stands behind a PSYNC */
    if (self->client < 0)
        bytes_take(&self->to_client, self->to_client.length);
    if (self->server < 0)
        bytes_take(&self->to_server, self->to_server.length);
    write_all(self, rules, TO_CLIENT);
    write_all(self, rules, TO_SERVER);
    return !is_over(self, rules) && !is_cut_by_limit(self, rules);
}
