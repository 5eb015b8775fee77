/* One configuration file for C and for Java: both read the same of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/java.h"
#include "tests/support/server.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static server *own;
static rlock_client *client;

/* The environment is the JVM's, too, which starts here. */
static void setup(void)
{
    setenv("RLOCK_TEST_PASSWORD", "p:q", 1);
    setenv("RLOCK_TEST_EMPTY", "", 1);
    java = agent_start_anew();
    own = server_start();
    freeReplyObject(server_command(own, "ACL SETUSER alice on %s ~* &* +@all", ">a b@c"));
    freeReplyObject(server_command(own, "ACL SETUSER bob on %s ~* &* +@all", ">p:q"));
    freeReplyObject(server_command(own, "CONFIG SET requirepass %s", "of/all"));
}

static void tear_down(void)
{
    if (!own)
        return;
    rlock_client_close(client);
    agent_end(java);
    server_stop(own);
    scratch_remove();
}

TestSuite(config_file, .init = setup, .fini = tear_down);

/* Opens both with `text`, in which PORT is the server's. */
static void open_both(const char *text)
{
    char whole[1000] = "", path[4200];
    for (const char *at = text; *at;) {
        size_t length = strlen(whole);
        const char *port = strstr(at, "PORT");
        int before = port ? (int)(port - at) : (int)strlen(at);
        if (port)
            snprintf(whole + length, sizeof whole - length, "%.*s%d", before, at, server_port(own));
        else
            snprintf(whole + length, sizeof whole - length, "%s", at);
        at += before + (port ? 4 : 0);
    }
    scratch_write("redisson.yaml", whole);
    snprintf(path, sizeof path, "%s/redisson.yaml", scratch_folder());
    rlock_config config;
    rlock_config_init(&config);
    rlock_status status = rlock_config_load_yaml(&config, path);
    cr_assert(status == RLOCK_OK, "%s\n%s", rlock_last_error(), whole);
    cr_assert(!*rlock_config_warnings(&config), "%s", rlock_config_warnings(&config));
    status = rlock_client_open_config(&client, &config);
    rlock_config_free(&config);
    cr_assert(status == RLOCK_OK, "%s\n%s", rlock_last_error(), whole);
    java_open_file(path);
}

/* Whoever holds the lock keeps the other out of it, for the watchdog timeout of the file. */
static void assert_one_lock(int64_t lease_ms, int database)
{
    rlock *lock = rlock_get_lock(client, "order");
    freeReplyObject(server_command(own, "SELECT %d", database));
    assert_ok(rlock_lock(lock));
    assert_between(server_integer(own, "PTTL order"), lease_ms * 6 / 10, lease_ms);
    cr_assert(!java_try("t1", "order", 0, -1));
    assert_ok(rlock_unlock(lock));
    cr_assert(java_try("t1", "order", 0, -1));
    assert_between(server_integer(own, "PTTL order"), lease_ms * 6 / 10, lease_ms);
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    java_unlock("t1", "order");
    assert_ok(rlock_try_lock(lock, 10000, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
    rlock_client_close(client);
    client = NULL;
}

#define FEW "threads: 4\nnettyThreads: 4\n"
#define SECTION "singleServerConfig:\n  connectionMinimumIdleSize: 2\n"

Test(config_file, makes_one_lock_of_both_sides)
{
    static const struct {
        const char *text;
        int64_t lease_ms;
        int database;
    } cases[] = {
        /* Percent-encoded, and a + that means a space. */
        {SECTION "  address: \"redis://alice:a+b%40c@127.0.0.1:PORT\"\n  database: 3\nlockWatchdogTimeout: 20_000\n" FEW,
         20000, 3},
        /* The address' user goes before that of the file; numbers in other bases. */
        {SECTION "  address: \"redis://bob:p%3Aq@127.0.0.1:PORT\"\nusername: alice\npassword: wrong\n"
                 "lockWatchdogTimeout: 0x61A8\n" FEW, 25000, 0},
        /* A password alone; JSON; a default that the environment does not override; the top before the section. */
        {"{singleServerConfig: {address: 'redis://127.0.0.1:PORT', connectionMinimumIdleSize: 2, password: wrong,"
         " timeout: '4000', retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: PT0.5S, maxDelay: PT1S}},"
         " password: of/all, lockWatchdogTimeout: \"${RLOCK_TEST_UNSET:-15000}\", threads: 4, nettyThreads: 4}",
         15000, 0},
        /* The environment; the section where the top says nothing; what stands behind the port is nothing. */
        {SECTION "  address: \"redis://127.0.0.1:PORT/\"\n  username: bob${RLOCK_TEST_EMPTY:-x}\n"
                 "  password: ${RLOCK_TEST_PASSWORD}\nusername: null\npassword:\nlockWatchdogTimeout: 040000\n" FEW, 16384,
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_both(cases[i].text);
        assert_one_lock(cases[i].lease_ms, cases[i].database);
    }
}
