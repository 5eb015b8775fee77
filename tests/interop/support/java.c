/* The stage with Java on it: a JVM beside the C clients, whose threads are owners by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/java.h"

#include "tests/integration/support/keys.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

agent *java;
static server *javas; /* the server that Java's client is on; NULL: it is on several */

static void open_on(server *on, int64_t watchdog_ms)
{
    javas = on;
    agent_open(java, server_tcp_url(on), watchdog_ms);
}

static void start_agent(void)
{
    agent_end(java);
    java = NULL;
    java = agent_start();
}

void java_stage(void)
{
    start_agent(); /* first, so that a test without Java is skipped before it starts a server */
    stage_open();
    open_on(stage.server, 0);
}

void java_stage_quick(void)
{
    if (java) /* java_stage's, as the suite's .init runs before the test's own, which takes its place */
        assert_result(ASK(java, "agent", "close"), "");
    else
        start_agent();
    stage_quick();
    open_on(stage.server, QUICK_MS);
}

void java_move_to(server *on)
{
    open_on(on, 0);
}

void java_begin(void)
{
    start_agent();
}

void java_open_file(const char *path)
{
    javas = NULL;
    agent_open_file(java, path);
}

void java_is_at(server *at)
{
    javas = at;
}

/* Java first: a JVM without its server would try to reconnect until it ends. */
void java_stage_close(void)
{
    agent_end(java);
    java = NULL;
    stage_close();
}

static const char *number(char text[static 24], int64_t value)
{
    snprintf(text, 24, "%lld", (long long)value);
    return text;
}

static bool yes(const answer *got)
{
    bool is = strcmp(got->text, "true") == 0;
    assert_result(got, is ? "true" : "false");
    return is;
}

static int64_t number_in(const answer *got)
{
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return strtoll(got->text, NULL, 10);
}

int java_begin_lock(const char *thread, const char *name)
{
    return BEGIN(java, thread, "lock", name, "lock");
}

int java_begin_try(const char *thread, const char *name, int64_t wait_ms, int64_t lease_ms)
{
    char wait[24], lease[24];
    return BEGIN(java, thread, "lock", name, "try", number(wait, wait_ms), number(lease, lease_ms));
}

void java_lock(const char *thread, const char *name)
{
    assert_result(agent_await(java, java_begin_lock(thread, name), AGENT_MS), "");
}

void java_lease(const char *thread, const char *name, int64_t lease_ms)
{
    char lease[24];
    assert_result(ASK(java, thread, "lock", name, "lease", number(lease, lease_ms)), "");
}

bool java_try(const char *thread, const char *name, int64_t wait_ms, int64_t lease_ms)
{
    return yes(agent_await(java, java_begin_try(thread, name, wait_ms, lease_ms), AGENT_MS + wait_ms));
}

void wait_no_latches(void)
{
    if (!javas)
        return;
    for (int64_t end_ms = limit_end_ms(20000);; pass_ms(1)) {
        redisReply *latches = server_command(javas, "KEYS redisson_unlock_latch:*");
        size_t count = latches->elements;
        freeReplyObject(latches);
        if (count == 0)
            return;
        cr_assert(now_ms() < end_ms, "Redisson's unlock latch stays");
    }
}

const answer *java_unlock(const char *thread, const char *name)
{
    const answer *unlocked = ASK(java, thread, "lock", name, "unlock");
    assert_result(unlocked, "");
    wait_no_latches();
    return unlocked;
}

void wait_disconnected(const char *client_name)
{
    char field[80];
    snprintf(field, sizeof field, " name=%s ", client_name);
    for (int64_t end_ms = limit_end_ms(5000);; pass_ms(1)) {
        char *clients = server_text(javas, "CLIENT LIST");
        bool connected = strstr(clients, field) != NULL;
        free(clients);
        if (!connected)
            return;
        cr_assert(now_ms() < end_ms, "the server has not noticed the end of client %s", client_name);
    }
}

void java_kill(void)
{
    agent_kill(java);
    if (javas)
        wait_disconnected("java");
}

bool java_force(const char *thread, const char *name)
{
    return yes(ASK(java, thread, "lock", name, "force"));
}

bool java_is_locked(const char *name)
{
    return yes(ASK(java, "asker", "lock", name, "isLocked"));
}

bool java_is_held(const char *thread, const char *name)
{
    return yes(ASK(java, thread, "lock", name, "isHeld"));
}

int64_t java_hold_count(const char *thread, const char *name)
{
    return number_in(ASK(java, thread, "lock", name, "holdCount"));
}

int64_t java_ttl(const char *name)
{
    return number_in(ASK(java, "asker", "lock", name, "ttl"));
}

void wait_for_waiter(const char *name, int64_t scripts_before)
{
    cr_assert(wait_listened(name, 5000));
    for (int64_t end_ms = limit_end_ms(5000); scripts_run() < scripts_before + 2; pass_ms(1))
        cr_assert(now_ms() < end_ms, "the waiter did not ask again once it had subscribed");
}

void java_await_asleep(const char *thread)
{
    for (int64_t end_ms = limit_end_ms(AGENT_MS);; pass_ms(2)) {
        const answer *asleep = ASK(java, "agent", "asleep", thread);
        cr_assert(!asleep->threw, "Java threw %s: %s", asleep->text, asleep->message);
        if (strcmp(asleep->text, "true") == 0)
            return;
        cr_assert(now_ms() < end_ms, "Java's waiter does not sleep");
    }
}

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
