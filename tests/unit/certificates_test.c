/* The fixture's certificates: which of them a careful client takes, and servers of all kinds that show
 * them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/certificates.h"
#include "tests/support/cluster.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

TestSuite(certificates);

/* What openssl says of the server behind the port, for that name, trusting that authority. */
static char *verified(int port, certificate authority, const char *name)
{
    return shell("openssl s_client -connect 127.0.0.1:%d -CAfile '%s' -verify_hostname '%s' -brief </dev/null || true",
                 port, certificate_file(authority), name);
}

static void assert_said(char *got, const char *expected)
{
    cr_assert(strstr(got, expected) != NULL, "no \"%s\" in:\n%s", expected, got);
    free(got);
}

Test(certificates, each_is_refused_for_its_own_fault_alone)
{
    texts kept = {0};
    int64_t since_ms = now_ms();
    server *own = server_start_with(certificates_args(&kept, CERTIFICATE_SERVER, "no", NULL));
    cr_log_info("a server with certificates was up after %lld ms", (long long)(now_ms() - since_ms));
    int port = server_port(own);
    cr_assert(strncmp(server_tcp_url(own), "rediss://127.0.0.1:", 19) == 0);
    assert_said(verified(port, CERTIFICATE_AUTHORITY, "localhost"), "Verification: OK");
    assert_said(verified(port, CERTIFICATE_AUTHORITY, "elsewhere.example"), "hostname mismatch");
    assert_said(verified(port, CERTIFICATE_OTHER_AUTHORITY, "localhost"), "self-signed certificate in certificate chain");
    certificate_show(own, CERTIFICATE_EXPIRED);
    assert_said(verified(port, CERTIFICATE_AUTHORITY, "localhost"), "certificate has expired");
    certificate_show(own, CERTIFICATE_OTHER_NAME);
    assert_said(verified(port, CERTIFICATE_AUTHORITY, "localhost"), "hostname mismatch");
    assert_said(verified(port, CERTIFICATE_AUTHORITY, "elsewhere.example"), "Verification: OK");
    certificate_show(own, CERTIFICATE_OTHER_SERVER);
    assert_said(verified(port, CERTIFICATE_OTHER_AUTHORITY, "localhost"), "Verification: OK");
    server_stop(own);
    texts_free(&kept);
}

Test(certificates, client_certificate_opens_a_server_that_asks_for_one)
{
    texts kept = {0};
    server *own = server_start_with(certificates_args(&kept, CERTIFICATE_SERVER, "yes", NULL));
    assert_said(shell("redis-cli -h localhost -p %d --tls --cacert '%s' --cert '%s' --key '%s' ping", server_port(own),
                      certificate_file(CERTIFICATE_AUTHORITY), certificate_file(CERTIFICATE_CLIENT),
                      certificate_key(CERTIFICATE_CLIENT)),
                "PONG");
    assert_said(shell("redis-cli -h localhost -p %d --tls --cacert '%s' ping || true", server_port(own),
                      certificate_file(CERTIFICATE_AUTHORITY)),
                "rror");
    server_stop(own);
    texts_free(&kept);
}

Test(certificates, stores_have_the_key_and_the_trusted_certificate)
{
    assert_said(shell("openssl pkcs12 -in '%s' -passin pass:" CERTIFICATES_PASSWORD " -nodes",
                      certificate_key_store(CERTIFICATE_CLIENT)),
                "BEGIN PRIVATE KEY");
    char *trusted = shell("openssl pkcs12 -in '%s' -passin pass:" CERTIFICATES_PASSWORD " -nokeys",
                          certificate_trust_store(CERTIFICATE_AUTHORITY));
    assert_said(trusted, "BEGIN CERTIFICATE");
    shell_do("! command -v keytool || keytool -list -keystore '%s' -storepass " CERTIFICATES_PASSWORD
             " | grep trustedCertEntry",
             certificate_trust_store(CERTIFICATE_AUTHORITY));
}

/* Nodes speak TLS to clients and to each other: nobody could come without. */
Test(certificates, cluster_speaks_tls_also_among_its_nodes, .lasts = 10)
{
    texts kept = {0};
    cluster *own = cluster_start(3, 1, certificates_args(&kept, CERTIFICATE_SERVER, "yes", NULL));
    const char *key = cluster_key(own, 0, "k");
    freeReplyObject(server_command(cluster_at(own, key), "SET %s 1", key));
    cr_assert(server_integer(cluster_at(own, key), "WAIT 1 10000") == 1);
    cluster_move(own, cluster_slot(key), 1);
    server_kill(cluster_node(own, 1));
    cr_assert(cluster_await_takeover(own, cluster_slot(key), 1, 30000) == 4);
    assert_said(verified(server_port(cluster_node(own, 4)), CERTIFICATE_AUTHORITY, "localhost"), "Verification: OK");
    cluster_stop(own);
    texts_free(&kept);
}

Test(certificates, sentinels_watch_servers_over_tls)
{
    texts kept = {0};
    const char *const *args = certificates_args(&kept, CERTIFICATE_SERVER, "yes", NULL);
    sentinel *own = sentinel_start(&(sentinel_plan){.replicas = 1, .server_args = args, .sentinel_args = args});
    assert_said(verified(server_port(sentinel_node(own, 0)), CERTIFICATE_AUTHORITY, "localhost"), "Verification: OK");
    server_kill(sentinel_server(own, 0));
    cr_assert(sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS) == 1);
    sentinel_stop(own);
    texts_free(&kept);
}
