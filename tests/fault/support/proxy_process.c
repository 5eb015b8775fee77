/* The proxy's process: one loop over the listener, the passages and the orders of the test. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy_parts.h"
#include "tests/support/beside.h"
#include "tests/support/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PASSAGES 512
#define FOR_EVER INT64_MAX
#define CROWD 4

static _Thread_local struct process {
    int control, listener; /* listener -1: connections are refused */
    const place *at, *server_at;
    bool deaf;
    int crowd[CROWD]; /* connections of its own that leave no room for others while it is deaf */
    rule_set rules;
    passage *passages;
    int accepted;
    order awaited; /* kind ORDER_AWAIT: the test waits for it */
    int64_t awaited_until_ms;
} process;

/* --- passages --- */

static void accept_all(void)
{
    int client;
    while ((client = accept4(process.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        passage *fresh = passage_open(client, process.server_at);
        if (fresh) {
            process.accepted++;
            fresh->next = process.passages;
            process.passages = fresh;
        } else {
            close(client);
        }
    }
}

static void cut(bool subscribers_only)
{
    for (passage **at = &process.passages; *at;) {
        passage *one = *at;
        if ((subscribers_only && !one->subscribed) || one->kind == PASSAGE_REPLICATION) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        passage_close(one, process.rules.resets);
    }
}

/* The first `count` passages were polled; those that come after them are newer and were not. */
static void step_all(const struct pollfd *polled, size_t count)
{
    static const struct pollfd nothing[2];
    int64_t moment_ms = now_ms();
    size_t i = 0;
    for (passage **at = &process.passages; *at; i++) {
        passage *one = *at;
        if (passage_step(one, &process.rules, i < count ? &polled[i * 2] : nothing, moment_ms)) {
            at = &one->next;
        } else {
            *at = one->next;
            passage_close(one, process.rules.resets);
        }
    }
}

static int connected(void)
{
    int count = 0;
    for (const passage *one = process.passages; one; one = one->next)
        count += one->client >= 0;
    return count;
}

/* --- orders --- */

static int count_of(const order *about)
{
    return process.rules.all[about->rule].counts[about->what];
}

static int add(const order *given)
{
    int number = rules_number(&process.rules);
    if (number < 0)
        return -1;
    for (passage *one = process.passages; one; one = one->next)
        passage_forget(one, number);
    acting_rule *fresh = &process.rules.all[number];
    *fresh = (acting_rule){.asked = given->added, .up = true};
    memcpy(fresh->text, given->text, sizeof fresh->text);
    memcpy(fresh->and_text, given->and_text, sizeof fresh->and_text);
    return number;
}

static void set_accepting(bool accepts)
{
    if (process.listener >= 0 && !accepts) {
        close(process.listener);
        process.listener = -1;
    } else if (process.listener < 0 && accepts) {
        process.listener = place_listen(process.at);
    }
}

/* A queue of no length is full with one in it; then the kernel leaves the first packet of others unheard. */
static void deafen(void)
{
    accept_all();
    listen(process.listener, 0);
    for (int i = 0; i < CROWD; i++)
        process.crowd[i] = place_begin_connect(process.at);
}

static void hear_again(void)
{
    for (int i = 0; i < CROWD; i++)
        close(process.crowd[i]);
    close(accept4(process.listener, NULL, NULL, SOCK_CLOEXEC)); /* the one that was in it */
    listen(process.listener, BACKLOG);
}

static void set_deaf(bool deaf)
{
    if (process.listener >= 0 && deaf != process.deaf)
        (deaf ? deafen : hear_again)();
    process.deaf = deaf;
}

static void set_limits(const order *given)
{
    for (int to = 0; to < 2; to++) {
        process.rules.limits[to] = given->limits[to];
        for (passage *one = process.passages; one; one = one->next)
            one->passed[to] = 0;
    }
    process.rules.stalls = given->flags[0];
}

static int obey(const order *given)
{
    switch (given->kind) {
    case ORDER_ADD:
        return add(given);
    case ORDER_RELEASE:
        process.rules.all[given->rule].up = false;
        return 0;
    case ORDER_COUNT:
    case ORDER_AWAIT:
        return count_of(given);
    case ORDER_PASS:
        process.rules.pass_to_server = given->flags[0];
        process.rules.pass_to_client = given->flags[1];
        return 0;
    case ORDER_ACCEPT:
        set_accepting(given->flags[0]);
        return 0;
    case ORDER_CUT:
        cut(given->flags[0]);
        return 0;
    case ORDER_DEAFEN:
        set_deaf(given->flags[0]);
        return 0;
    case ORDER_LIMIT:
        set_limits(given);
        return 0;
    case ORDER_RESET:
        process.rules.resets = given->flags[0];
        return 0;
    case ORDER_ACCEPTED:
        return process.accepted;
    case ORDER_CONNECTED:
        return connected();
    case ORDER_END:
        break;
    }
    beside_leave();
}

static void answer(int number)
{
    if (send(process.control, &number, sizeof number, MSG_NOSIGNAL) < 0)
        beside_leave();
}

static void take_order(void)
{
    order given;
    ssize_t n = recv(process.control, &given, sizeof given, 0);
    if (n < 0 && errno == EINTR)
        return;
    if (n != (ssize_t)sizeof given)
        beside_leave(); /* the test has ended */
    if (given.kind == ORDER_AWAIT) {
        process.awaited = given;
        process.awaited_until_ms = now_ms() + given.ms;
    } else {
        answer(obey(&given));
    }
}

/* --- the loop --- */

static void tell_awaited(void)
{
    if (process.awaited.kind != ORDER_AWAIT)
        return;
    bool so = count_of(&process.awaited) >= process.awaited.count;
    if (so || now_ms() >= process.awaited_until_ms) {
        process.awaited.kind = ORDER_END;
        answer(so);
    }
}

static int sleep_ms(void)
{
    int64_t until_ms = process.awaited.kind == ORDER_AWAIT ? process.awaited_until_ms : FOR_EVER;
    for (const passage *one = process.passages; one; one = one->next) {
        if (one->held_request >= 0 && one->held_until_ms && one->held_until_ms < until_ms)
            until_ms = one->held_until_ms;
    }
    int64_t moment_ms = now_ms();
    return until_ms == FOR_EVER ? -1 : until_ms <= moment_ms ? 0 : (int)(until_ms - moment_ms);
}

static void turn(void)
{
    struct pollfd polled[2 + 2 * PASSAGES];
    size_t count = 0;
    polled[0] = (struct pollfd){.fd = process.control, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = process.deaf ? -1 : process.listener, .events = POLLIN};
    for (const passage *one = process.passages; one && count < PASSAGES; one = one->next)
        passage_wants(one, &process.rules, &polled[2 + 2 * count++]);
    if (poll(polled, 2 + 2 * count, sleep_ms()) < 0)
        return;
    step_all(polled + 2, count);
    /* After the passages: an order is about what is there by then, and acted on at once. */
    if (polled[0].revents)
        take_order();
    if (polled[1].revents && process.listener >= 0)
        accept_all();
    step_all(NULL, 0);
    tell_awaited();
}

void proxy_process(void *life)
{
    const proxy_life *of = life;
    process.control = of->control;
    process.listener = of->listener;
    process.at = &of->at;
    process.server_at = &of->server_at;
    process.rules.limits[0] = process.rules.limits[1] = -1;
    process.rules.pass_to_server = process.rules.pass_to_client = true;
    process.awaited.kind = ORDER_END;
    for (;;)
        turn();
}
