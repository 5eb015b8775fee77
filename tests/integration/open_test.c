/* Opening a client: which URLs, passwords and places it takes, and what it says of the others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(open, .fini = stage_close);

#define SECRET "s3cr:t@/%?"
#define SECRET_IN_URL "s3cr%3At%40%2F%25%3F"

static void start_with(const char *const *args)
{
    stage.server = server_start_with(args);
}

/* redis://<user>@127.0.0.1:<port><rest>, as static text. */
static const char *tcp(const char *user, const char *rest)
{
    static char url[512];
    snprintf(url, sizeof url, "redis://%s%s127.0.0.1:%d%s", user, *user ? "@" : "", server_port(stage.server), rest);
    return url;
}

static void assert_refused(const char *url, rlock_status expected, const char *words)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, url);
    cr_assert(status == expected, "%s: %s, %s", url, rlock_strstatus(status), rlock_last_error());
    cr_assert(client == NULL);
    cr_assert(strstr(rlock_last_error(), words) != NULL, "%s: said \"%s\"", url, rlock_last_error());
    cr_assert(strstr(rlock_last_error(), "s3cr") == NULL, "the password is told: %s", rlock_last_error());
}

/* Locks and unlocks once. */
static void assert_works(const char *url)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, url);
    cr_assert(status == RLOCK_OK, "%s: %s, %s", url, rlock_strstatus(status), rlock_last_error());
    rlock *lock = rlock_get_lock(client, "order");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
    rlock_client_close(client);
}

Test(open, takes_unix_and_tcp_urls, .init = stage_open)
{
    assert_works(server_url(stage.server));
    assert_works(server_tcp_url(stage.server));
    assert_works(server_url_with(stage.server, "timeout=500&retryAttempts=0&connectionPoolSize=1"));
    assert_works(tcp("", "/"));
    assert_works(tcp("", "/0?timeout=500"));
}

Test(open, refuses_malformed_urls)
{
    static const struct {
        const char *url;
        rlock_status status;
    } urls[] = {
        {"", RLOCK_INVALID},
        {"localhost", RLOCK_INVALID},
        {"localhost:6379", RLOCK_INVALID},
        {"http://localhost", RLOCK_INVALID},
        {"redis:", RLOCK_INVALID},
        {"redis:/localhost", RLOCK_INVALID},
        {"redis://", RLOCK_INVALID},
        {"redis://:6379", RLOCK_INVALID},
        {"redis://localhost:", RLOCK_INVALID},
        {"redis://localhost:0", RLOCK_INVALID},
        {"redis://localhost:65536", RLOCK_INVALID},
        {"redis://localhost:-1", RLOCK_INVALID},
        {"redis://localhost:6379x", RLOCK_INVALID},
        {"redis://localhost/x", RLOCK_INVALID},
        {"redis://localhost/-1", RLOCK_INVALID},
        {"redis://localhost/99999999999999999999", RLOCK_INVALID},
        {"redis://[::1", RLOCK_INVALID},
        {"redis://[::1]6379", RLOCK_INVALID},
        {"redis://:s3cr%@localhost", RLOCK_INVALID},
        {"redis://:s3cr%4@localhost", RLOCK_INVALID},
        {"redis://:s3cr%zz@localhost", RLOCK_INVALID},
        {"redis://:s3cr%00@localhost", RLOCK_INVALID},
        {"redis://user:s3cret", RLOCK_INVALID},
        {"redis://localhost?timeout", RLOCK_INVALID},
        {"redis://localhost?timeout=", RLOCK_INVALID},
        {"redis://localhost?timeout=soon", RLOCK_INVALID},
        {"redis://localhost?timeout=0", RLOCK_INVALID},
        {"redis://localhost?timeout=-5", RLOCK_INVALID},
        {"redis://localhost?timeout=99999999999999999999", RLOCK_INVALID},
        {"redis://localhost?lockWatchdogTimeout=29", RLOCK_INVALID},
        {"redis://localhost?retryAttempts=-1", RLOCK_INVALID},
        {"redis://localhost?connectionPoolSize=0", RLOCK_INVALID},
        {"redis://localhost?noSuchSetting=1", RLOCK_INVALID},
        {"redis://localhost?clientName=two%20words", RLOCK_INVALID},
        {"unix://", RLOCK_INVALID},
        {"unix:///", RLOCK_INVALID},
        {"unix://redis.sock", RLOCK_INVALID},
        {"unix:///redis.sock?db=x", RLOCK_INVALID},
        {"rediss://", RLOCK_INVALID},
        {"redis-sentinel://localhost/mymaster", RLOCK_INVALID},
        {"redis-cluster://localhost/one", RLOCK_INVALID},
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        assert_refused(urls[i].url, urls[i].status, "");
}

Test(open, says_that_no_server_is_there)
{
    stage.server = server_start();
    int port = server_port(stage.server);
    server_kill(stage.server);
    char url[64];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    int64_t since_ms = now_ms();
    assert_refused(url, RLOCK_UNAVAILABLE, "127.0.0.1");
    assert_refused(server_url(stage.server), RLOCK_UNAVAILABLE, server_socket(stage.server));
    assert_refused("unix:///no/such/folder/redis.sock", RLOCK_UNAVAILABLE, "/no/such/folder/redis.sock");
    assert_between(now_ms() - since_ms, 0, at_most_ms(500));
    cr_assert(tasks_named("rlock-") == 0);
}

/* It listens, and does not answer. */
TimedTest(open, says_that_the_server_is_silent, .init = stage_open)
{
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    assert_refused(server_url_with(stage.server, "timeout=300&connectTimeout=300"), RLOCK_UNAVAILABLE,
                   "it took the connection but did not answer within 300 ms (timeout)");
    assert_between(now_ms() - since_ms, 290, at_most_ms(900));
    server_thaw(stage.server);
}

Test(open, names_the_database_that_is_refused, .init = stage_open)
{
    assert_refused(tcp("", "/99"), RLOCK_SERVER, "refused the database 99: ERR DB index is out of range; use a lower number, or "
                                                 "raise \"databases\" in its configuration");
}

Test(open, needs_the_servers_password)
{
    start_with((const char *const[]){"--requirepass", SECRET, NULL});
    assert_works(tcp(":" SECRET_IN_URL, ""));
    assert_works(tcp("default:" SECRET_IN_URL, "/1"));
    assert_refused(tcp("", ""), RLOCK_SERVER, "NOAUTH");
    assert_refused(tcp(":s3cret", ""), RLOCK_SERVER, "WRONGPASS");
    assert_refused(tcp("nobody:" SECRET_IN_URL, ""), RLOCK_SERVER, "WRONGPASS");
    rlock_client *client = NULL;
    rlock_config config;
    rlock_config_init(&config);
    config.address = server_url(stage.server);
    config.password = SECRET;
    assert_ok(rlock_client_open_config(&client, &config));
    rlock_client_close(client);
    config.password = "s3cret";
    client = NULL;
    assert_status(rlock_client_open_config(&client, &config), RLOCK_SERVER);
    cr_assert(!client && !strstr(rlock_last_error(), "s3cr"), "%s", rlock_last_error());
}

/* A user of an ACL, and what he may not do. (Scripts name the channel among their keys, as Redisson's do.) */
RealTest(open, takes_a_user_of_an_acl, .init = stage_open)
{
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob on >%s ~order* ~redisson_lock__channel:* &* +@all",
                                   SECRET));
    assert_works(tcp("bob:" SECRET_IN_URL, ""));
    assert_refused(tcp("bob:s3cret", ""), RLOCK_SERVER, "WRONGPASS");
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, tcp("bob:" SECRET_IN_URL, "")));
    rlock *allowed = rlock_get_lock(client, "order:1"), *forbidden = rlock_get_lock(client, "invoice:1");
    assert_status(rlock_lock(forbidden), RLOCK_SERVER);
    assert_error("NOPERM", "invoice:1");
    assert_ok(rlock_lock(allowed));
    assert_ok(rlock_unlock(allowed));
    rlock_free(allowed);
    rlock_free(forbidden);
    rlock_client_close(client);
}

/* Each database has locks of its own. */
TimedTest(open, selects_the_database, .init = stage_open)
{
    rlock_client *client = NULL, *same = NULL;
    assert_ok(rlock_client_open(&client, tcp("", "/3")));
    assert_ok(rlock_client_open(&same, server_url_with(stage.server, "db=3")));
    rlock *lock = rlock_get_lock(client, "order"), *as_well = rlock_get_lock(same, "order");
    assert_ok(rlock_lock(lock));
    assert_status(rlock_try_lock(as_well, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(lock_of(stage.client, "order"), 0, 1000));
    char *keys = server_text(stage.server, "INFO keyspace");
    cr_assert(strstr(keys, "db0:keys=1") && strstr(keys, "db3:keys=1"), "%s", keys);
    free(keys);
    rlock_free(lock);
    rlock_free(as_well);
    rlock_client_close(client);
    rlock_client_close(same);
    assert_refused(tcp("", "/4711"), RLOCK_SERVER, "out of range");
}

Test(open, names_its_connections, .init = stage_open)
{
    rlock_client *client = stage_client("clientName=billing");
    assert_ok(rlock_lock(lock_of(client, "order")));
    char *list = server_text(stage.server, "CLIENT LIST");
    cr_assert(strstr(list, "name=billing") != NULL, "%s", list);
    free(list);
}

/* 36 characters of UUID v8, one a client: Redisson's are v4. */
Test(open, gives_each_client_an_id, .init = stage_open)
{
    const char *id = rlock_client_id(stage.client);
    cr_assert(strlen(id) == 36 && strspn(id, "0123456789abcdef-") == 36, "%s", id);
    cr_assert(id[14] == '8' && strchr("89ab", id[19]), "%s is no UUID v8", id);
    for (int i = 8; i <= 23; i += 5)
        cr_assert(id[i] == '-', "%s", id);
    cr_assert(strcmp(id, rlock_client_id(stage.other)) != 0);
}

/* The settings of the struct, and the URL's over them. */
Test(open, reads_the_struct_and_the_url_over_it, .init = stage_open)
{
    rlock_client *client = NULL;
    rlock_config config;
    char *address = strdup(server_url_with(stage.server, "lockWatchdogTimeout=70000"));
    rlock_config_init(&config);
    config.address = address;
    config.lock_watchdog_timeout_ms = 5000;
    config.name_prefix = "shop:";
    config.retry_attempts = 0; /* one attempt, and it has all its time */
    assert_ok(rlock_client_open_config(&client, &config));
    memset(address, 'x', strlen(address)); /* it was copied */
    free(address);
    rlock *lock = rlock_get_lock(client, "order");
    assert_ok(rlock_lock(lock));
    assert_between(pttl_of("shop:order"), config.lock_watchdog_timeout_ms + 1, 70000);
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
    rlock_client_close(client);
}

/* The pool opens what load needs: one thread needs one connection. */
Test(open, makes_one_connection_for_one_thread, .init = stage_open)
{
    int64_t before = server_info(stage.server, "total_connections_received");
    rlock_client *client = stage_client(NULL);
    char name[16];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_ok(rlock_try_lock(lock_of(client, name), 0, 60000));
    }
    cr_assert(server_info(stage.server, "total_connections_received") - before == 1);
}

/* Nothing is wrong with the server then, and whoever went there would look in vain. */
RealTest(open, says_that_descriptors_are_used_up, .init = stage_open)
{
    int next = dup(STDERR_FILENO);
    struct rlimit before, none;
    close(next);
    cr_assert(next > 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){(rlim_t)next, before.rlim_max};
    cr_assert(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const char *urls[] = {server_url(stage.server), server_tcp_url(stage.server)};
    for (int i = 0; i < 2; i++) {
        assert_refused(urls[i], RLOCK_UNAVAILABLE, "ulimit -n");
        cr_assert(strstr(rlock_last_error(), "check that it runs") == NULL, "%s", rlock_last_error());
    }
    cr_assert(setrlimit(RLIMIT_NOFILE, &before) == 0);
    assert_works(urls[0]);
}

/* The script ends there, in the middle; the lock is free again once the background has given back what was taken. */
RealTest(open, command_that_the_server_has_by_another_name_leaves_no_lock)
{
    start_with((const char *const[]){"--rename-command", "PEXPIRE", "MY-PEXPIRE", NULL});
    rlock *lock = lock_of(stage_client(NULL), "order");
    bool locked = true;
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_SERVER);
    assert_error("\"order\"", "rename-command", "docs/security.md");
    while (locked) /* the test's own timeout ends it */
        assert_ok(rlock_is_locked(lock, &locked));
}

RealTest(open, subscribe_that_the_server_has_by_another_name_is_told_when_a_wait_needs_it)
{
    start_with((const char *const[]){"--rename-command", "SUBSCRIBE", "MY-SUBSCRIBE", NULL});
    assert_ok(rlock_lock(lock_of(stage_client(NULL), "order")));
    assert_status(rlock_lock(lock_of(stage_client(NULL), "order")), RLOCK_SERVER);
    assert_error("rename-command has not removed", "docs/security.md");
    cr_assert(!strstr(rlock_last_error(), "beginning with"), "%s", rlock_last_error());
}
