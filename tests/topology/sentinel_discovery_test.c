/* Discovery: the master is found through whatever sentinel answers, and where it is not, the message says
 * which server is wrong and what to do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON_MS 30000

static sentinel *own;

static void open_own(void)
{
    own = sentinel_start(NULL);
}

static void close_own(void)
{
    clients_close();
    sentinel_stop(own);
    own = NULL;
}

TestSuite(sentinel_discovery, .init = open_own, .fini = close_own);

static const char *url_of(const char *places, const char *query)
{
    static char url[1024];
    snprintf(url, sizeof url, "redis-sentinel://%s/?masterName=" SENTINEL_MASTER "%s%s", places, query ? "&" : "",
             query ? query : "");
    return url;
}

static int port_of(int number)
{
    return server_port(sentinel_node(own, number));
}

__attribute__((format(printf, 2, 3))) static void tell(server *to, const char *format, ...)
{
    char line[200];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    redisReply *reply = server_command(to, line);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", line, reply->str);
    freeReplyObject(reply);
}

static bool is_listened_to(server *at)
{
    char *clients = server_text(at, "CLIENT LIST");
    bool is = strstr(clients, " sub=1 ") != NULL;
    free(clients);
    return is;
}

/* Whether a sentinel names that other one. */
static bool is_known(int to, server *other)
{
    bool is = false;
    char port[16];
    snprintf(port, sizeof port, "%d", server_port(other));
    redisReply *all = server_command(sentinel_node(own, to), "SENTINEL SENTINELS " SENTINEL_MASTER);
    for (size_t i = 0; i < all->elements; i++) {
        const redisReply *one = all->element[i];
        for (size_t j = 0; j + 1 < one->elements; j += 2)
            is |= strcmp(one->element[j]->str, "port") == 0 && strcmp(one->element[j + 1]->str, port) == 0;
    }
    freeReplyObject(all);
    return is;
}

/* Has the other two sentinels forget it. An earlier message of its own that arrives late makes it known again. */
static void forget(server *gone)
{
    for (int i = 0; i < 2; i++) {
        if (is_known(i, gone))
            tell(sentinel_node(own, i), "SENTINEL RESET " SENTINEL_MASTER);
    }
}

/* Held on the master that the sentinels watch. */
static void assert_works(rlock_client *client)
{
    rlock *lock = lock_of(client, "order");
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(sentinel_server(own, 0), "EXISTS order") == 1);
    assert_ok(rlock_unlock(lock));
}

Test(sentinel_discovery, goes_on_from_a_dead_sentinel_to_the_next)
{
    server_kill(sentinel_node(own, 0));
    server_kill(sentinel_node(own, 1));
    int64_t since_ms = now_ms();
    assert_works(client_at("%s", sentinel_url(own)));
    assert_between(now_ms() - since_ms, 0, at_most_ms(500));
}

Test(sentinel_discovery, goes_on_from_a_frozen_sentinel_to_the_next_after_a_second)
{
    server_freeze(sentinel_node(own, 0));
    int64_t since_ms = now_ms();
    assert_works(client_at("%s", sentinel_url(own)));
    assert_between(now_ms() - since_ms, 0, at_most_ms(1500));
}

Test(sentinel_discovery, goes_on_from_an_unknown_host_to_the_next)
{
    char places[200];
    snprintf(places, sizeof places, "no-such-host.invalid:26379,127.0.0.1:%d", port_of(1));
    assert_works(client_at("%s", url_of(places, NULL)));
}

Test(sentinel_discovery, works_by_names_of_hosts)
{
    char places[200];
    snprintf(places, sizeof places, "localhost:%d", port_of(1));
    assert_works(client_at("%s", url_of(places, NULL)));
}

/* One sentinel is configured; the others are known when it is gone. */
Test(sentinel_discovery, meets_sentinels_that_were_not_configured)
{
    char places[200];
    snprintf(places, sizeof places, "127.0.0.1:%d", port_of(0));
    rlock_client *client = client_at("%s", url_of(places, SPRY));
    server_kill(sentinel_node(own, 0));
    server_kill(sentinel_server(own, 0));
    int64_t since_ms = now_ms();
    rlock *lock = lock_of(client, "order");
    assert_ok(rlock_lock(lock));
    cr_log_info("locked %lld ms after the end of the master and of the configured sentinel",
                (long long)(now_ms() - since_ms));
    int master = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS);
    cr_assert(master > 0 && server_integer(sentinel_server(own, master), "EXISTS order") == 1);
}

/* One of them goes, and watches another's master by the same name: nobody asks it, listens to it, or follows it. */
Test(sentinel_discovery, forgets_a_sentinel_that_the_others_do_not_know_any_more)
{
    char places[200];
    server *gone = sentinel_node(own, 2), *others = server_start();
    snprintf(places, sizeof places, "127.0.0.1:%d", port_of(0));
    rlock_client *client = client_at("%s", url_of(places, SPRY "&scanInterval=50"));
    for (int64_t end_ms = limit_end_ms(SOON_MS); !is_listened_to(gone); pass_ms(5))
        cr_assert(now_ms() < end_ms, "it is not listened to");
    tell(gone, "SENTINEL REMOVE " SENTINEL_MASTER);
    tell(gone, "SENTINEL MONITOR " SENTINEL_MASTER " 127.0.0.1 %d 1", server_port(others));
    forget(gone);
    for (int64_t end_ms = limit_end_ms(SOON_MS); server_info(gone, "connected_clients") > 1; pass_ms(5)) { /* the fixture's */
        cr_assert(now_ms() < end_ms, "it is connected to yet");
        forget(gone);
    }
    assert_works(client);
    client_end(client);
    server_stop(others);
}

Test(sentinel_discovery, names_the_master_that_no_sentinel_watches)
{
    char url[300];
    snprintf(url, sizeof url, "redis-sentinel://%s/?masterName=other", sentinel_hosts(own));
    refused_at(url, RLOCK_SERVER, "\"other\"", "masterName", "sentinel monitor", NULL);
}

/* What was said outweighs what was not answered, whichever was asked last. */
Test(sentinel_discovery, names_the_wrong_master_though_another_sentinel_is_down)
{
    char url[300];
    server_kill(sentinel_node(own, 2));
    snprintf(url, sizeof url, "redis-sentinel://%s/?masterName=other", sentinel_hosts(own));
    refused_at(url, RLOCK_SERVER, "\"other\"", "masterName", NULL);
}

Test(sentinel_discovery, names_a_sentinel_that_is_down)
{
    char named[40];
    for (int i = 0; i < 3; i++)
        server_kill(sentinel_node(own, i));
    snprintf(named, sizeof named, "127.0.0.1:%d", port_of(2));
    refused_at(sentinel_url(own), RLOCK_UNAVAILABLE, "none of the sentinels", named, "refused", NULL);
}

Test(sentinel_discovery, takes_no_longer_than_a_second_for_each_frozen_sentinel)
{
    for (int i = 0; i < 3; i++)
        server_freeze(sentinel_node(own, i));
    long long took_ms = refused_at(sentinel_url(own), RLOCK_UNAVAILABLE, "none of the sentinels", "did not answer", NULL);
    assert_between(took_ms, 2900, at_most_ms(3500));
}

Test(sentinel_discovery, names_a_server_that_is_no_sentinel)
{
    char places[100];
    snprintf(places, sizeof places, "127.0.0.1:%d", server_port(sentinel_server(own, 0)));
    refused_at(url_of(places, NULL), RLOCK_SERVER, places, "not a sentinel", "26379", NULL);
}

/* And so does a client for one server that is pointed at a sentinel. */
Test(sentinel_discovery, is_what_a_client_of_one_server_lacks)
{
    char url[100];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port_of(0));
    if (rlock_client_open(&client, url) == RLOCK_OK) {
        rlock *lock = rlock_get_lock(client, "order");
        assert_status(rlock_lock(lock), RLOCK_SERVER);
        rlock_free(lock);
    }
    cr_log_info("%s", rlock_last_error());
    assert_error("sentinel");
    rlock_client_close(client);
}

/* The sentinels have not replaced it yet, or cannot. */
Test(sentinel_discovery, names_the_dead_master_that_the_sentinels_name)
{
    char named[40];
    snprintf(named, sizeof named, "127.0.0.1:%d", server_port(sentinel_server(own, 0)));
    for (int node = 0; node < 3; node++)
        server_kill(sentinel_server(own, node));
    refused_at(sentinel_url(own), RLOCK_UNAVAILABLE, named, "sentinel", "master", NULL);
}

/* As for a moment in a failover; here for good, since sentinels that stand still put nothing right. */
Test(sentinel_discovery, names_the_replica_that_the_sentinels_call_the_master)
{
    char named[40];
    snprintf(named, sizeof named, "127.0.0.1:%d", server_port(sentinel_server(own, 0)));
    freeReplyObject(server_command(sentinel_server(own, 0), "REPLICAOF 127.0.0.1 1"));
    refused_at(sentinel_url(own), RLOCK_UNAVAILABLE, named, "replica", "failover", NULL);
}

/* --- passwords --- */

/* One that was set up for another master, as each would be for its own host. */
Test(sentinel_discovery, of_two_masters_is_a_problem_that_the_doctor_sees)
{
    server *another = server_start();
    char url[256], names[64];
    snprintf(url, sizeof url, "redis-sentinel://127.0.0.1:%d?masterName=" SENTINEL_MASTER, port_of(0));
    outcome found = command_outcome(url, COMMAND("doctor"));
    cr_assert(found.status == 0 && strstr(found.out, "sentinels: the 3 that are known name 127.0.0.1 "), "%s%s", found.out,
              found.err);
    outcome_free(&found);
    tell(sentinel_node(own, 2), "SENTINEL REMOVE " SENTINEL_MASTER);
    tell(sentinel_node(own, 2), "SENTINEL MONITOR " SENTINEL_MASTER " 127.0.0.1 %d 2", server_port(another));
    found = command_outcome(url, COMMAND("doctor"));
    snprintf(names, sizeof names, "127.0.0.1:%d says at 127.0.0.1 %d: clients lock at", port_of(2), server_port(another));
    cr_assert(found.status == 1 && strstr(found.out, "problem: ") && strstr(found.out, names), "%s%s", found.out, found.err);
    outcome_free(&found);
    server_stop(another);
}

TestSuite(sentinel_login, .fini = close_own);

static void open_with_passwords(const char *servers, const char *sentinels)
{
    own = sentinel_start(&(sentinel_plan){
        .replicas = 1,
        .server_args = servers ? (const char *const[]){"--requirepass", servers, NULL} : NULL,
        .sentinel_args = sentinels ? (const char *const[]){"--requirepass", sentinels, NULL} : NULL,
    });
}

Test(sentinel_login, to_servers_and_to_sentinels_is_separate)
{
    open_with_passwords("secret", "other");
    assert_works(client_at("redis-sentinel://:secret@%s/?masterName=" SENTINEL_MASTER "&sentinelPassword=other",
                           sentinel_hosts(own)));
    char url[300];
    snprintf(url, sizeof url, "redis-sentinel://:secret@%s/?masterName=" SENTINEL_MASTER "&sentinelPassword=wrong",
             sentinel_hosts(own));
    refused_at(url, RLOCK_SERVER, "sentinel", "sentinelPassword", "WRONGPASS", NULL);
    snprintf(url, sizeof url, "redis-sentinel://:wrong@%s/?masterName=" SENTINEL_MASTER "&sentinelPassword=other",
             sentinel_hosts(own));
    snprintf(url + 250, 50, "127.0.0.1:%d", server_port(sentinel_server(own, 0)));
    refused_at(url, RLOCK_SERVER, url + 250, "WRONGPASS", NULL);
    refused_at(url_of(sentinel_hosts(own), "sentinelPassword=other"), RLOCK_SERVER, url + 250, "password", NULL);
    refused_at(url_of(sentinel_hosts(own), NULL), RLOCK_SERVER, "sentinel", "sentinelPassword", NULL);
}

Test(sentinel_login, is_for_the_sentinels_alone_where_the_servers_ask_for_none)
{
    open_with_passwords(NULL, "other");
    assert_works(client_at("%s", url_of(sentinel_hosts(own), "sentinelPassword=other")));
}

Test(sentinel_login, is_for_the_servers_alone_where_the_sentinels_ask_for_none)
{
    open_with_passwords("secret", NULL);
    assert_works(client_at("redis-sentinel://:secret@%s/?masterName=" SENTINEL_MASTER, sentinel_hosts(own)));
}

/* As Redisson: a sentinel that asks for a password is told that of the servers when it has none of its
 * own, and one that asks for none is told none. */
Test(sentinel_login, falls_back_to_that_of_the_servers_as_redissons_does)
{
    open_with_passwords("secret", "secret");
    assert_works(client_at("redis-sentinel://:secret@%s/?masterName=" SENTINEL_MASTER, sentinel_hosts(own)));
}

/* The file of most users: one password, whoever asks for it. */
Test(sentinel_login, takes_the_only_password_of_redissons_file)
{
    open_with_passwords("secret", "secret");
    rlock_config config;
    rlock_config_init(&config);
    assert_ok(rlock_config_load_yaml(&config, sentinel_yaml(own, "password: secret\n", NULL)));
    cr_assert(!config.sentinel_password && strcmp(rlock_config_warnings(&config), "") == 0);
    rlock_client *client = NULL;
    assert_ok(rlock_client_open_config(&client, &config));
    rlock_config_free(&config);
    assert_works(client);
    stage_close(); /* which has the handles */
    rlock_client_close(client);
}

/* A user of the sentinels' own, with the password of the servers. */
Test(sentinel_login, falls_back_to_the_password_of_the_servers_for_a_user_of_its_own)
{
    own = sentinel_start(&(sentinel_plan){
        .replicas = 1,
        .server_args = (const char *const[]){"--requirepass", "secret", NULL},
        .sentinel_args = (const char *const[]){"--requirepass", "other", "--user", "watcher", "on", ">secret", "~*", "&*",
                                               "+@all", NULL},
    });
    assert_works(client_at("redis-sentinel://:secret@%s/?masterName=" SENTINEL_MASTER "&sentinelUsername=watcher", sentinel_hosts(own)));
}

Test(sentinel_login, that_a_sentinel_does_not_ask_for_is_kept_back_as_redissons_is)
{
    open_with_passwords("secret", NULL);
    assert_works(client_at("redis-sentinel://:secret@%s/?masterName=" SENTINEL_MASTER "&sentinelPassword=other",
                           sentinel_hosts(own)));
}

Test(sentinel_login, as_users_of_access_lists_is_separate)
{
    own = sentinel_start(&(sentinel_plan){
        .replicas = 1,
        .server_args = (const char *const[]){"--user", "locks", "on", ">seen", "~*", "&*", "+@all", NULL},
        .sentinel_args = (const char *const[]){"--user", "watcher", "on", ">looked", "~*", "&*", "+@all", NULL},
    });
    for (int node = 0; node < 2; node++) /* whom sentinels and replicas come as may not lock */
        freeReplyObject(server_command(sentinel_server(own, node), "ACL SETUSER default -eval -evalsha -subscribe"));
    assert_works(client_at("redis-sentinel://locks:seen@%s/?masterName=" SENTINEL_MASTER
                           "&sentinelUsername=watcher&sentinelPassword=looked", sentinel_hosts(own)));
    char *users = server_text(sentinel_node(own, 0), "CLIENT LIST");
    cr_assert(strstr(users, "user=watcher") != NULL, "nobody came as watcher:\n%s", users);
    free(users);
}
