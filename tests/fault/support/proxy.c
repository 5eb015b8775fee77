/* The test's side of the fault proxy: its process's start and end, and the orders it is given. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"

#include "tests/fault/support/proxy_parts.h"
#include "tests/support/beside.h"
#include "tests/support/port.h"
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct proxy {
    beside *process;
    proxy_life life;
    int control;
    pthread_mutex_t ordering; /* held from an order to its answer */
    place at;                 /* where it listens */
    int port_fd;              /* holds its port; -1: it has a socket */
};

static proxy *start(proxy *self, const place *server_at)
{
    pthread_mutex_init(&self->ordering, NULL);
    int ends[2];
    cr_assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    int listener = place_listen(&self->at);
    cr_assert(listener >= 0, "no place for the fault proxy: %s", strerror(errno));
    self->life = (proxy_life){.control = ends[1], .listener = listener, .at = self->at, .server_at = *server_at};
    self->process = beside_start(proxy_process, &self->life, (const int[]){ends[1], listener, -1});
    close(ends[1]);
    close(listener);
    self->control = ends[0];
    return self;
}

proxy *proxy_start(const server *behind)
{
    proxy *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    char path[sizeof self->at.un.sun_path];
    int length = snprintf(path, sizeof path, "%s-proxy", server_socket(behind));
    cr_assert(length < (int)sizeof path, "the path is too long: %s", path);
    self->at = place_of_path(path);
    self->port_fd = -1;
    place server_at = place_of_path(server_socket(behind));
    return start(self, &server_at);
}

proxy *proxy_start_port(const server *behind)
{
    proxy *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    self->port_fd = port_hold(0);
    cr_assert(self->port_fd >= 0, "no free port: %s", strerror(errno));
    self->at = place_of_port(port_held(self->port_fd));
    place server_at = place_of_port(server_port(behind));
    return start(self, &server_at);
}

static int ask(proxy *self, const order *given)
{
    int answer = 0;
    ssize_t n;
    pthread_mutex_lock(&self->ordering);
    bool sent = send(self->control, given, sizeof *given, MSG_NOSIGNAL) == (ssize_t)sizeof *given;
    do
        n = sent ? recv(self->control, &answer, sizeof answer, 0) : 0;
    while (n < 0 && errno == EINTR);
    pthread_mutex_unlock(&self->ordering);
    cr_assert(n == (ssize_t)sizeof answer, "the fault proxy has ended");
    return answer;
}

void proxy_stop(proxy *self)
{
    if (!self)
        return;
    /* An order and not only our end of the pair: a forked child may hold a copy of that. */
    order end = {.kind = ORDER_END};
    send(self->control, &end, sizeof end, MSG_NOSIGNAL);
    close(self->control);
    beside_await(self->process);
    if (self->port_fd >= 0)
        close(self->port_fd);
    pthread_mutex_destroy(&self->ordering);
    free(self);
}

const char *proxy_socket(const proxy *self)
{
    return self->at.un.sun_path;
}

int proxy_port(const proxy *self)
{
    return port_held(self->port_fd);
}

int proxy_add(proxy *self, const proxy_rule *rule)
{
    order add = {.kind = ORDER_ADD, .added = *rule};
    const char *text = rule->text ? rule->text : "", *and_text = rule->and_text ? rule->and_text : "";
    cr_assert(strlen(text) < PROXY_TEXT && strlen(and_text) < PROXY_TEXT, "a rule's text is too long");
    snprintf(add.text, sizeof add.text, "%s", text);
    snprintf(add.and_text, sizeof add.and_text, "%s", and_text);
    int number = ask(self, &add);
    cr_assert(number >= 0, "more than %d rules", PROXY_RULES);
    return number;
}

void proxy_release(proxy *self, int rule)
{
    ask(self, &(order){.kind = ORDER_RELEASE, .rule = rule});
}

int proxy_count(proxy *self, int rule, proxy_count_of what)
{
    return ask(self, &(order){.kind = ORDER_COUNT, .rule = rule, .what = what});
}

bool proxy_await(proxy *self, int rule, proxy_count_of what, int count, int64_t ms)
{
    return ask(self, &(order){.kind = ORDER_AWAIT, .rule = rule, .what = what, .count = count, .ms = ms});
}

void proxy_pass(proxy *self, bool to_server, bool to_client)
{
    ask(self, &(order){.kind = ORDER_PASS, .flags = {to_server, to_client}});
}

void proxy_accept(proxy *self, bool accepts)
{
    ask(self, &(order){.kind = ORDER_ACCEPT, .flags = {accepts}});
}

void proxy_deafen(proxy *self, bool deaf)
{
    ask(self, &(order){.kind = ORDER_DEAFEN, .flags = {deaf}});
}

void proxy_limit(proxy *self, int64_t to_server, int64_t to_client, bool stalls)
{
    ask(self, &(order){.kind = ORDER_LIMIT, .limits = {to_server, to_client}, .flags = {stalls}});
}

void proxy_reset(proxy *self, bool resets)
{
    ask(self, &(order){.kind = ORDER_RESET, .flags = {resets}});
}

void proxy_cut(proxy *self)
{
    ask(self, &(order){.kind = ORDER_CUT});
}

void proxy_cut_subscribers(proxy *self)
{
    ask(self, &(order){.kind = ORDER_CUT, .flags = {true}});
}

int proxy_accepted(proxy *self)
{
    return ask(self, &(order){.kind = ORDER_ACCEPTED});
}

int proxy_connected(proxy *self)
{
    return ask(self, &(order){.kind = ORDER_CONNECTED});
}
