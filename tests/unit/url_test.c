/* URLs: what each form means, and what each malformed one answers, never with a password. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/config/settings.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static rlock_status parse(const char *url, rli_settings *settings)
{
    rlock_config config;
    rlock_config_init(&config);
    config.address = url;
    return rli_settings_make(settings, &config);
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const struct {
    const char *url, *host;
    int port;
    const char *user, *password, *path;
    int database;
} good[] = {
    {"redis://localhost", "localhost", 6379, NULL, NULL, NULL, 0},
    {"redis://localhost/", "localhost", 6379, NULL, NULL, NULL, 0},
    {"redis://10.0.0.1:7000", "10.0.0.1", 7000, NULL, NULL, NULL, 0},
    {"redis://10.0.0.1:7000/15", "10.0.0.1", 7000, NULL, NULL, NULL, 15},
    {"redis://[::1]", "::1", 6379, NULL, NULL, NULL, 0},
    {"redis://[fe80::1]:7000/2", "fe80::1", 7000, NULL, NULL, NULL, 2},
    {"redis://:pass@host", "host", 6379, NULL, "pass", NULL, 0},
    {"redis://user:pass@host:1", "host", 1, "user", "pass", NULL, 0},
    {"redis://user:p%40ss%3aw%2Fd%25@host:65535", "host", 65535, "user", "p@ss:w/d%", NULL, 0},
    {"redis://user:p&ss@host", "host", 6379, "user", "p&ss", NULL, 0},
    {"redis://user:p@ss:word@host", "host", 6379, "user", "p@ss:word", NULL, 0},
    {"redis://us%3Aer:pass@host?db=4", "host", 6379, "us:er", "pass", NULL, 4},
    {"redis://höst:1", "höst", 1, NULL, NULL, NULL, 0},
    {"redis://host?", "host", 6379, NULL, NULL, NULL, 0},
    {"redis://host/7?db=8", "host", 6379, NULL, NULL, NULL, 8},
    {"unix:///run/redis.sock", NULL, 0, NULL, NULL, "/run/redis.sock", 0},
    {"unix:///run/redis.sock?db=9", NULL, 0, NULL, NULL, "/run/redis.sock", 9},
    {"unix:///with%20space/s?database=1", NULL, 0, NULL, NULL, "/with space/s", 1},
};

Test(url, well_formed_ones_mean_what_they_say)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rli_settings settings;
        assert_ok(parse(good[i].url, &settings));
        cr_assert(same(settings.addresses[0].host, good[i].host), "%s has host %s", good[i].url, settings.addresses[0].host);
        cr_assert(!good[i].host || settings.addresses[0].port == good[i].port, "%s has port %d", good[i].url, settings.addresses[0].port);
        cr_assert(same(settings.username, good[i].user), "%s has user %s", good[i].url, settings.username);
        cr_assert(same(settings.password, good[i].password), "%s has password %s", good[i].url, settings.password);
        cr_assert(same(settings.addresses[0].socket_path, good[i].path), "%s has path %s", good[i].url, settings.addresses[0].socket_path);
        cr_assert(settings.database == good[i].database, "%s has database %d", good[i].url, settings.database);
        rli_settings_free(&settings);
    }
}

/* Servers as "host:port host:port", those that are sentinels with a * behind. */
static const struct {
    const char *url, *servers;
    rli_mode mode;
    bool tls;
    const char *user, *password;
    int database;
} several[] = {
    {"redis://a", "a:6379", RLI_SINGLE, false, NULL, NULL, 0},
    {"rediss://u:p@a/3", "a:6379", RLI_SINGLE, true, "u", "p", 3},
    {"redis-sentinel://a,b:7,c?masterName=m", "a:26379* b:7* c:26379*", RLI_SENTINEL, false, NULL, NULL, 0},
    {"rediss-sentinel://u:p@a:1,b:2/5?masterName=m", "a:1* b:2*", RLI_SENTINEL, true, "u", "p", 5},
    {"redis-cluster://[::1]:7,b,[fe80::2]", "::1:7 b:6379 fe80::2:6379", RLI_CLUSTER, false, NULL, NULL, 0},
    {"rediss-cluster://:p%40q@a/0", "a:6379", RLI_CLUSTER, true, NULL, "p@q", 0},
    {"redis-cluster://a/3", "a:6379", RLI_CLUSTER, false, NULL, NULL, 3}, /* Valkey 9's */
    {"redis-master-slave://m:1,r:1,r:2/7", "m:1 r:1 r:2", RLI_MASTER_SLAVE, false, NULL, NULL, 7},
    {"rediss-master-slave://m", "m:6379", RLI_MASTER_SLAVE, true, NULL, NULL, 0},
    {"redis-replicated://c,b,a", "c:6379 b:6379 a:6379", RLI_REPLICATED, false, NULL, NULL, 0},
    {"rediss-replicated://u:p@a,b", "a:6379 b:6379", RLI_REPLICATED, true, "u", "p", 0},
};

Test(url, each_scheme_says_the_mode_and_its_servers_keep_their_order)
{
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        rli_settings settings;
        assert_ok(parse(several[i].url, &settings));
        char servers[300] = "";
        for (size_t j = 0; j < settings.address_count; j++) {
            const rli_address *at = &settings.addresses[j];
            size_t length = strlen(servers);
            snprintf(servers + length, sizeof servers - length, "%s%s:%d%s", j ? " " : "", at->host, at->port,
                     at->sentinel ? "*" : "");
            cr_assert(!at->username && !at->password, "%s: the user is that of all", several[i].url);
            cr_assert(strstr(at->text, at->host), "%s is shown as %s", several[i].url, at->text);
        }
        cr_assert(same(servers, several[i].servers), "%s has %s", several[i].url, servers);
        cr_assert(settings.mode == several[i].mode, "%s has mode %d", several[i].url, (int)settings.mode);
        cr_assert(settings.tls.on == several[i].tls, "%s: TLS", several[i].url);
        cr_assert(same(settings.username, several[i].user), "%s has user %s", several[i].url, settings.username);
        cr_assert(same(settings.password, several[i].password), "%s has password %s", several[i].url, settings.password);
        cr_assert(settings.database == several[i].database, "%s has database %d", several[i].url, settings.database);
        rli_settings_free(&settings);
    }
}

/* 107 bytes, as the system has it. */
Test(url, path_of_a_socket_may_be_as_long_as_the_system_takes)
{
    char url[200];
    rli_settings settings;
    snprintf(url, sizeof url, "unix:///%0106d", 0);
    assert_ok(parse(url, &settings));
    rli_settings_free(&settings);
    snprintf(url, sizeof url, "unix:///%0107d", 0);
    assert_status(parse(url, &settings), RLOCK_INVALID);
    cr_assert(strstr(rlock_last_error(), "108 bytes long; 107 is"), "%s", rlock_last_error());
}

/* Addresses are told apart by all of their names, which messages show. */
Test(url, hosts_with_a_beginning_in_common_are_two)
{
    static const char url[] = "redis-cluster://redis-node-of-the-shop-1.example.com,redis-node-of-the-shop-2.example.com:7000";
    rli_settings settings;
    assert_ok(parse(url, &settings));
    cr_assert_str_eq(settings.addresses[0].text, "redis-node-of-the-shop-1.example.com:6379");
    cr_assert_str_eq(settings.addresses[1].text, "redis-node-of-the-shop-2.example.com:7000");
    rli_settings_free(&settings);
}

Test(url, every_setting_can_be_a_parameter)
{
    rli_settings settings;
    assert_ok(parse("redis://h?lockWatchdogTimeout=1000&lockWatchdogBatchSize=7&timeout=11&connectTimeout=12"
                   "&subscriptionTimeout=13&retryAttempts=0&retryBaseDelay=14&retryMaxDelay=15"
                   "&fairLockWaitTimeout=16&localHandOver=true&connectionPoolSize=3&database=5&clientName=me&namePrefix=a%26b%3D"
                   "&unlockWaits=false",
                   &settings));
    cr_assert(settings.watchdog_timeout_ms == 1000);
    cr_assert(settings.batch_size == 7);
    cr_assert(settings.timeout_ms == 11);
    cr_assert(settings.connect_timeout_ms == 12);
    cr_assert(settings.subscription_timeout_ms == 13);
    cr_assert(settings.retry_attempts == 0);
    cr_assert(settings.retry_base_delay_ms == 14);
    cr_assert(settings.retry_max_delay_ms == 15);
    cr_assert(settings.fair_wait_timeout_ms == 16);
    cr_assert(settings.local_hand_over);
    cr_assert(settings.pool_size == 3);
    cr_assert(settings.database == 5);
    cr_assert(same(settings.client_name, "me"));
    cr_assert(same(settings.name_prefix, "a&b="));
    cr_assert(!settings.unlock_waits);
    rli_settings_free(&settings);

    assert_ok(parse("rediss-sentinel://h?masterName=m&sentinelUsername=su&sentinelPassword=s%26p&sslTruststore=/t.pem"
                    "&sslTruststorePassword=tp&sslKeystore=/k.p12&sslKeystorePassword=kp&sslProtocols=TLSv1.2,TLSv1.3"
                    "&sslCiphers=A:B&sslVerificationMode=CA_ONLY&shardedSubscriptionMode=OFF"
                    "&checkLockSyncedSlaves=false&slavesSyncTimeout=21&scanInterval=22&dnsMonitoringInterval=23"
                    "&pingConnectionInterval=24&tcpKeepAlive=false&tcpKeepAliveCount=25&tcpKeepAliveIdle=26"
                    "&tcpKeepAliveInterval=27&tcpUserTimeout=28", &settings));
    cr_assert(same(settings.master_name, "m"));
    cr_assert(same(settings.sentinel_username, "su") && same(settings.sentinel_password, "s&p"));
    cr_assert(same(settings.tls.truststore, "/t.pem") && same(settings.tls.truststore_password, "tp"));
    cr_assert(same(settings.tls.keystore, "/k.p12") && same(settings.tls.keystore_password, "kp"));
    cr_assert(same(settings.tls.protocols, "TLSv1.2,TLSv1.3") && same(settings.tls.ciphers, "A:B"));
    cr_assert(settings.tls.verification == RLI_VERIFY_CA_ONLY && settings.sharding == RLI_SHARDING_OFF);
    cr_assert(!settings.check_synced && settings.sync_timeout_ms == 21 && settings.scan_interval_ms == 22);
    cr_assert(settings.dns_interval_ms == 23 && settings.ping_interval_ms == 24);
    cr_assert(!settings.tcp_keep_alive && settings.tcp_keep_alive_count == 25 && settings.tcp_keep_alive_idle_s == 26);
    cr_assert(settings.tcp_keep_alive_interval_s == 27 && settings.tcp_user_timeout_ms == 28);
    rli_settings_free(&settings);
}

Test(url, nat_map_leads_each_address_where_it_says_and_leaves_others)
{
    static const struct {
        const char *host;
        int port;
        const char *to;
        int to_port;
    } cases[] = {{"10.0.0.1", 7000, "127.0.0.1", 7001}, /* before the pair of hosts */
                 {"10.0.0.1", 7002, "near", 7002},
                 {"far", 1, "::1", 1},
                 {"fd00::1", 7000, "fd00::2", 65535},
                 {"fd00::1", 7001, "fd00::1", 7001},
                 {"10.0.0.11", 7000, "10.0.0.11", 7000},
                 {"10.0.0", 7000, "10.0.0", 7000},
                 {"near", 7000, "near", 7000}, /* not twice */
                 {"", 0, "", 0}};
    static const char *const schemes[] = {"redis-sentinel://a?masterName=m&", "redis-cluster://a?", "redis-replicated://a?"};
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        char url[200];
        snprintf(url, sizeof url, "%snatMap=10.0.0.1=near,far=[::1],10.0.0.1:7000=127.0.0.1:7001,near:1=b:1,"
                 "[fd00::1]:7000=[fd00::2]:65535", schemes[s]);
        rli_settings settings;
        assert_ok(parse(url, &settings));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const char *host = cases[i].host;
            size_t length = strlen(host);
            int port = cases[i].port;
            rli_nat_map(&settings.nat, &host, &length, &port);
            cr_assert(length == strlen(cases[i].to) && memcmp(host, cases[i].to, length) == 0 && port == cases[i].to_port,
                      "%s:%d became %.*s:%d", cases[i].host, cases[i].port, (int)length, host, port);
        }
        rli_settings_free(&settings);
    }
}

Test(url, an_empty_nat_map_is_none)
{
    rli_settings settings;
    assert_ok(parse("redis://a?natMap=", &settings));
    cr_assert(settings.nat.count == 0);
    rli_settings_free(&settings);
}

/* SECRET stands wherever a password may be meant. */
static const struct {
    const char *url;
    rlock_status status;
    const char *word; /* that the message must have */
} bad[] = {
    {"", RLOCK_INVALID, "scheme"},
    {"localhost", RLOCK_INVALID, "scheme"},
    {"localhost:6379", RLOCK_INVALID, "scheme"},
    {"http://localhost", RLOCK_INVALID, "scheme"},
    {"redis-sentinels://h?masterName=m", RLOCK_INVALID, "did you mean \"redis-sentinel\""},
    {"Rediss-Cluster://h", RLOCK_INVALID, "did you mean \"rediss-cluster\""},
    {"sentinel://h", RLOCK_INVALID, "did you mean \"redis-sentinel\""},
    {"redis+uds:///run/redis.sock", RLOCK_INVALID, "did you mean \"unix\""},
    {"valkeys://h", RLOCK_INVALID, "did you mean \"rediss\""},
    {"user:SECRET://h", RLOCK_INVALID, "scheme; write"},
    {"redis:/localhost", RLOCK_INVALID, "scheme"},
    {"REDIS://localhost", RLOCK_INVALID, "scheme"},
    {" redis://localhost", RLOCK_INVALID, "scheme"},
    {"user:SECRET@localhost", RLOCK_INVALID, "scheme"},
    {"redis://", RLOCK_INVALID, "host"},
    {"redis:///3", RLOCK_INVALID, "host"},
    {"redis://:7000", RLOCK_INVALID, "host"},
    {"redis://:SECRET@", RLOCK_INVALID, "host"},
    {"redis://:SECRET@:7000", RLOCK_INVALID, "host"},
    {"redis://[]:7000", RLOCK_INVALID, "host"},
    {"redis://[::1", RLOCK_INVALID, "]"},
    {"redis://[::1]7000", RLOCK_INVALID, "]"},
    {"redis://SECRET@host", RLOCK_INVALID, "colon"},
    {"redis://:SEC%RET@host", RLOCK_INVALID, "password"},
    {"redis://:SECRET%@host", RLOCK_INVALID, "password"},
    {"redis://:SECRET%4@host", RLOCK_INVALID, "password"},
    {"redis://:SECRET%00@host", RLOCK_INVALID, "password"},
    {"redis://us%er:SECRET@host", RLOCK_INVALID, "user"},
    {"redis://user:SE/CRET@host", RLOCK_INVALID, "%2F"},
    {"redis://user:SE?CRET@host", RLOCK_INVALID, "%3F"},
    {"redis://ho%st", RLOCK_INVALID, "host"},
    {"redis://host:", RLOCK_INVALID, "port"},
    {"redis://host:0", RLOCK_INVALID, "port"},
    {"redis://host:65536", RLOCK_INVALID, "port"},
    {"redis://host:99999999999999999999", RLOCK_INVALID, "port"},
    {"redis://host:-1", RLOCK_INVALID, "port"},
    {"redis://host:seven", RLOCK_INVALID, "port"},
    {"redis://host:70 00", RLOCK_INVALID, "port"},
    {"redis://::1", RLOCK_INVALID, "host"},
    {"redis://:SECRET@host:seven", RLOCK_INVALID, "port"},
    {"redis://user:SECRET", RLOCK_INVALID, "port"}, /* @host was forgotten */
    {"redis://host&db=1", RLOCK_INVALID, "?name=value"},
    {"redis://host:7000&db=1", RLOCK_INVALID, "?name=value"},
    {"redis://host/0&timeout=3", RLOCK_INVALID, "?name=value"},
    {"redis://user:SEC&RET", RLOCK_INVALID, "@host after"},
    {"redis://host/three", RLOCK_INVALID, "database"},
    {"redis://host/-1", RLOCK_INVALID, "database"},
    {"redis://host/1/2", RLOCK_INVALID, "database"},
    {"redis://host/99999999999999999999", RLOCK_INVALID, "database"},
    {"redis://:SECRET@host/three", RLOCK_INVALID, "database"},
    {"redis://host?db", RLOCK_INVALID, "value"},
    {"redis://host?db=", RLOCK_INVALID, "database"},
    {"redis://host?&", RLOCK_INVALID, "value"},
    {"redis://host?db=1&db", RLOCK_INVALID, "value"},
    {"redis://host?timeout=0", RLOCK_INVALID, "timeout"},
    {"redis://host?timeout=5s", RLOCK_INVALID, "milliseconds"},
    {"redis://host?timeout=1.5", RLOCK_INVALID, "milliseconds"},
    {"redis://host?Timeout=5", RLOCK_INVALID, "Timeout"},
    {"redis://host?watchdog=5", RLOCK_INVALID, "lockWatchdogTimeout"},
    {"redis://host?lockWatchdogTimeout=29", RLOCK_INVALID, "lockWatchdogTimeout"},
    {"redis://host?retryAttempts=-1", RLOCK_INVALID, "retryAttempts"},
    {"redis://host?connectionPoolSize=0", RLOCK_INVALID, "connectionPoolSize"},
    {"redis://host?connectionPoolSize=99999999999999999999", RLOCK_INVALID, "connectionPoolSize"},
    {"redis://host?clientName=two%20words", RLOCK_INVALID, "clientName"},
    {"redis://host?name%=x", RLOCK_INVALID, "parameter"},
    {"redis://host?clientName=%zz", RLOCK_INVALID, "parameter"},
    {"redis://:SECRET@host?timeout=x", RLOCK_INVALID, "timeout"},
    {"redis://:SECRET@host?unknown=x", RLOCK_INVALID, "unknown"},
    {"unix://", RLOCK_INVALID, "path"},
    {"unix:///", RLOCK_INVALID, "path"},
    {"unix://run/redis.sock", RLOCK_INVALID, "absolute"},
    {"unix://relative", RLOCK_INVALID, "absolute"},
    {"unix:///run/redis.sock?db=x", RLOCK_INVALID, "database"},
    {"unix:///run/%", RLOCK_INVALID, "path"},
    {"unix:///run/0123456789012345678901234567890123456789012345678901234567890123456789"
     "0123456789012345678901234567890123456789", RLOCK_INVALID, "107"},
    {"rediss://", RLOCK_INVALID, "host"},
    {"redis-rediss://host", RLOCK_INVALID, "scheme"},
    {"redis-sentinel:host", RLOCK_INVALID, "scheme"},
    {"redis://a,b", RLOCK_INVALID, "redis-sentinel://"},
    {"rediss://:SECRET@a:1,b:2", RLOCK_INVALID, "takes one"},
    {"redis-cluster://", RLOCK_INVALID, "host"},
    {"redis-cluster://a,", RLOCK_INVALID, "host"},
    {"redis-cluster://a,,b", RLOCK_INVALID, "host"},
    {"redis-cluster://,a", RLOCK_INVALID, "host"},
    {"redis-cluster://a:1,b:x", RLOCK_INVALID, "port"},
    {"redis-cluster://a:1;b:2", RLOCK_INVALID, "port"},
    {"redis-cluster://a:1,[::1", RLOCK_INVALID, "]"},
    {"redis-cluster://a:1,b:2,a:1", RLOCK_INVALID, "a:1 is given twice"},
    {"redis-replicated://a,a:6379", RLOCK_INVALID, "twice"},
    {"redis-cluster://a/-1", RLOCK_INVALID, "database is -1"},
    {"redis-cluster://u:SECRET@a,u:SECRET@b", RLOCK_INVALID, "more than one @"},
    {"redis-cluster://u:SECRET@ET@a,b", RLOCK_INVALID, "%40"},
    {"redis-cluster://u:SEC,RET", RLOCK_INVALID, "port"}, /* @host was forgotten */
    {"redis-sentinel://a", RLOCK_INVALID, "masterName"},
    {"redis-sentinel://a/mymaster", RLOCK_INVALID, "?masterName="},
    {"redis-sentinel://a?masterName=", RLOCK_INVALID, "masterName"},
    {"redis-sentinel://a?mastername=m", RLOCK_INVALID, "did you mean \"masterName\""},
    {"redis-sentinel://a?masterName=m&sentinelUsername=u", RLOCK_INVALID, "sentinelPassword"},
    {"redis-sentinel://u:SECRET@a?sentinelUsername=u", RLOCK_INVALID, "masterName"},
    {"redis-sentinel://a?masterName=m&sentinelPassword=SEC&RET", RLOCK_INVALID, "%26"},
    {"redis-sentinel://a?masterName=m&sentinelPassword=SEC&RET=x", RLOCK_INVALID, "%26"},
    {"redis-sentinel://a?masterName=m&sentinelPassword=SE&timeout=5&CRET=x", RLOCK_INVALID, "%26"},
    {"redis-sentinel://a?masterName=m&sentinelPassword=SE%RET", RLOCK_INVALID, "%25"},
    {"redis://a?masterName=m", RLOCK_INVALID, "not redis-sentinel://"},
    {"redis-cluster://a?sentinelPassword=SECRET", RLOCK_INVALID, "not redis-sentinel://"},
    {"redis://a?sslVerificationMode=NONE", RLOCK_INVALID, "sslVerificationMode is given, but the URL is without TLS"},
    {"redis-cluster://a?sslTruststorePassword=SECRET", RLOCK_INVALID, "rediss"},
    {"unix:///s?sslCiphers=A", RLOCK_INVALID, "without TLS"},
    {"redis://a?retryInterval=5", RLOCK_INVALID, "did you mean \"retryBaseDelay\""},
    {"redis://a?sslVerificationMode=none", RLOCK_INVALID, "STRICT, CA_ONLY or NONE"},
    {"redis://a?shardedSubscriptionMode=YES", RLOCK_INVALID, "AUTO, ON or OFF"},
    {"redis://a?checkLockSyncedSlaves=yes", RLOCK_INVALID, "false or true"},
    {"redis://a?slavesSyncTimeout=0", RLOCK_INVALID, "slavesSyncTimeout"},
    {"redis://a?scanInterval=-1", RLOCK_INVALID, "scanInterval"},
    {"redis://a?dnsMonitoringInterval=-2", RLOCK_INVALID, "dnsMonitoringInterval"},
    {"redis://a?pingConnectionInterval=-1", RLOCK_INVALID, "pingConnectionInterval"},
    {"redis://a?tcpKeepAliveCount=128", RLOCK_INVALID, "tcpKeepAliveCount"},
    {"redis-cluster://a?natMap=a", RLOCK_INVALID, "no ="},
    {"redis-cluster://a?natMap=a=", RLOCK_INVALID, "no host"},
    {"redis-cluster://a?natMap==b", RLOCK_INVALID, "no host"},
    {"redis-cluster://a?natMap=a=b,", RLOCK_INVALID, "no ="},
    {"redis-cluster://a?natMap=a=b,,c=d", RLOCK_INVALID, "no ="},
    {"redis-cluster://a?natMap=a:1=b", RLOCK_INVALID, "one side only"},
    {"redis-cluster://a?natMap=a=b:1", RLOCK_INVALID, "one side only"},
    {"redis-cluster://a?natMap=a:0=b:1", RLOCK_INVALID, "65535"},
    {"redis-cluster://a?natMap=a:1=b:65536", RLOCK_INVALID, "65535"},
    {"redis-cluster://a?natMap=a:1=b:", RLOCK_INVALID, "65535"},
    {"redis-cluster://a?natMap=a:1=:2", RLOCK_INVALID, "no host"},
    {"redis-cluster://a?natMap=::1=b", RLOCK_INVALID, "[ ]"},
    {"redis-cluster://a?natMap=[::1=b", RLOCK_INVALID, "without a ]"},
    {"redis-cluster://a?natMap=[::1]1=b:1", RLOCK_INVALID, "after its ]"},
    {"redis-cluster://a?natMap=[]=b", RLOCK_INVALID, "no host"},
    {"redis-cluster://a?natMap=a=b,%20c=d", RLOCK_INVALID, "white space"},
    {"redis-cluster://a?natMap=a=b=c", RLOCK_INVALID, "more than one ="},
    {"redis-cluster://a?natMap=a=b,c=d,a=e", RLOCK_INVALID, "\"a=e\", which has the left side"},
    {"redis://a?natMap=a=b", RLOCK_INVALID, "redis-sentinel://"},
    {"redis-master-slave://a?natMap=a=b", RLOCK_INVALID, "natMap"},
    {"redis://a?tiemout=5", RLOCK_INVALID, "did you mean \"timeout\""},
    {"redis://a?password=SECRET", RLOCK_INVALID, "before the host: redis://user:password@host"},
    {"redis://a?username=u", RLOCK_INVALID, "before the host: redis://user:password@host"},
};

Test(url, each_malformed_one_has_its_status_and_a_message_that_names_the_fault)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rlock_client *client = NULL;
        rlock_status status = rlock_client_open(&client, bad[i].url);
        cr_expect(status == bad[i].status, "`%s` answered %s: %s", bad[i].url, rlock_strstatus(status),
                  rlock_last_error());
        cr_expect(client == NULL, "`%s` set the client", bad[i].url);
        cr_expect(strstr(rlock_last_error(), bad[i].word) != NULL, "the message for `%s` does not say \"%s\": %s",
                  bad[i].url, bad[i].word, rlock_last_error());
        rlock_client_close(client);
    }
}

Test(url, no_message_has_any_of_the_password)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!strstr(bad[i].url, "SEC") && !strstr(bad[i].url, "CRET"))
            continue;
        rlock_client *client = NULL;
        cr_expect(rlock_client_open(&client, bad[i].url) != RLOCK_OK, "%s", bad[i].url);
        cr_expect(!strstr(rlock_last_error(), "SE") && !strstr(rlock_last_error(), "RET"), "`%s` gives it away: %s",
                  bad[i].url, rlock_last_error());
        rlock_client_close(client);
    }
}

Test(url, nothing_given_is_refused)
{
    rlock_client *client = NULL;
    assert_status(rlock_client_open(&client, NULL), RLOCK_INVALID);
    cr_assert(*rlock_last_error() && client == NULL);
    assert_status(rlock_client_open(NULL, "redis://host"), RLOCK_INVALID);
    rlock_client_close(NULL);
}
