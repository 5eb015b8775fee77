/* The test's side of the fault proxy: its process's start and end, and the orders it is given. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"

#include "tests/fault/support/proxy_parts.h"
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct proxy {
    pid_t pid;
    int control;
    pthread_mutex_t ordering; /* held from an order to its answer */
    char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* In the child: nothing of the test's is kept open by it. */
static _Noreturn void become(const proxy *self, int control, int listener, const char *server_socket, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(125);
    for (int fd = 3; fd < 1024; fd++) {
        if (fd != control && fd != listener)
            close(fd);
    }
    proxy_process(control, listener, self->socket, server_socket);
}

proxy *proxy_start(const server *behind)
{
    proxy *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    const char *path = server_socket(behind);
    size_t folder = (size_t)(strrchr(path, '/') - path);
    cr_assert(folder + sizeof "/proxy.sock" <= sizeof self->socket, "the path is too long: %s", path);
    snprintf(self->socket, sizeof self->socket, "%.*s/proxy.sock", (int)folder, path);
    pthread_mutex_init(&self->ordering, NULL);
    int ends[2];
    cr_assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    int listener = proxy_listen(self->socket);
    cr_assert(listener >= 0, "no socket at %s: %s", self->socket, strerror(errno));
    pid_t parent = getpid();
    self->pid = fork();
    if (self->pid == 0)
        become(self, ends[1], listener, path, parent);
    cr_assert(self->pid > 0, "fork: %s", strerror(errno));
    close(ends[1]);
    close(listener);
    self->control = ends[0];
    return self;
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
    while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    pthread_mutex_destroy(&self->ordering);
    free(self);
}

const char *proxy_socket(const proxy *self)
{
    return self->socket;
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
