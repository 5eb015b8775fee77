/* TLS: whom the library trusts, what it shows of itself, and how it refuses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/secure.h"
#include "tests/support/event.h"
#include "tests/support/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(tls_trust, .fini = secure_close);

#define NAME "order"

/* --- the server's certificate --- */

Test(tls_trust, server_of_a_known_authority_is_served_by_name_and_by_address)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    const char *authority = certificate_file(CERTIFICATE_AUTHORITY);
    assert_serves(secure_url_at("localhost", "sslTruststore=%s", authority));
    assert_serves(secure_url_at("127.0.0.1", "sslTruststore=%s", authority));
    assert_serves(secure_url_at("localhost", "sslTruststore=file:%s", authority));
    assert_serves(secure_url_at("localhost", "sslTruststore=file://%s", authority));
}

Test(tls_trust, authority_that_nobody_named_is_refused)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    assert_refused(secure_url_at("localhost", "%s", ""), RLOCK_SERVER,
                   REFUSED_FOR("localhost:", "rlock test authority", "sslTruststore"));
}

Test(tls_trust, certificate_of_another_authority_is_refused)
{
    secure_stage(CERTIFICATE_OTHER_SERVER, "no", NULL);
    assert_refused(secure_url("%s", ""), RLOCK_SERVER,
                   REFUSED_FOR("another test authority", certificate_file(CERTIFICATE_AUTHORITY), "sslTruststore"));
    assert_serves(secure_url_at("localhost", "sslTruststore=%s", certificate_file(CERTIFICATE_OTHER_AUTHORITY)));
}

Test(tls_trust, expired_certificate_is_refused)
{
    secure_stage(CERTIFICATE_EXPIRED, "no", NULL);
    char *ended = shell("date -u -d \"$(openssl x509 -noout -enddate -in '%s' | sed 's/.*=//')\" '+%%Y-%%m-%%d %%H:%%M:%%S' | "
                        "tr -d '\\n'", certificate_file(CERTIFICATE_EXPIRED));
    assert_refused(secure_url("%s", ""), RLOCK_SERVER, REFUSED_FOR("localhost:", "expired on", ended, "renew it"));
    assert_refused(secure_url("sslVerificationMode=CA_ONLY"), RLOCK_SERVER, REFUSED_FOR("expired on"));
    free(ended);
}

Test(tls_trust, certificate_for_another_host_is_refused_unless_hosts_are_not_checked)
{
    secure_stage(CERTIFICATE_OTHER_NAME, "no", NULL);
    assert_refused(secure_url("%s", ""), RLOCK_SERVER,
                   REFUSED_FOR("is for elsewhere.example,", "not for localhost", "sslVerificationMode=CA_ONLY"));
    assert_refused(secure_url_at("127.0.0.1", "sslTruststore=%s", certificate_file(CERTIFICATE_AUTHORITY)), RLOCK_SERVER,
                   REFUSED_FOR("not for 127.0.0.1"));
    assert_serves(secure_url("sslVerificationMode=CA_ONLY"));
    certificate_show(stage.server, CERTIFICATE_OTHER_SERVER);
    assert_refused(secure_url("sslVerificationMode=CA_ONLY"), RLOCK_SERVER, REFUSED_FOR("another test authority"));
}

Test(tls_trust, nothing_is_refused_where_nothing_is_checked)
{
    secure_stage(CERTIFICATE_EXPIRED, "no", NULL);
    assert_serves(secure_url_at("127.0.0.1", "sslVerificationMode=NONE"));
    certificate_show(stage.server, CERTIFICATE_OTHER_NAME);
    assert_serves(secure_url_at("127.0.0.1", "sslVerificationMode=NONE"));
}

/* The server chooses its certificate by the name that it is told; Redis has one, so openssl stands in. */
Test(tls_trust, server_is_told_the_name_of_the_host_but_not_an_address)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    const char *const hosts[] = {"localhost", "127.0.0.1"};
    for (int i = 0; i < 2; i++) {
        char log[4200];
        snprintf(log, sizeof log, "%s/%s", scratch_folder(), hosts[i]);
        char *port = shell("cd '%s' && rm -f pid && >'%s'; (timeout 20 openssl s_server -accept 127.0.0.1:0 -naccept 1 -www -cert '%s' "
                           "-key '%s' -servername other.example -cert2 '%s' -key2 '%s' >'%s' 2>&1 </dev/null & echo $! >pid)\n"
                           "until grep -q '^ACCEPT.*:[0-9][0-9]*$' '%s' && [ -z \"$(tail -c 1 '%s')\" ]; do sleep 0.01; done; "
                           "sed -n 's/^ACCEPT.*:\\([0-9]*\\)$/\\1/p' '%s' | tr -d '\\n'",
                           scratch_folder(), log, certificate_file(CERTIFICATE_SERVER), certificate_key(CERTIFICATE_SERVER),
                           certificate_file(CERTIFICATE_SERVER), certificate_key(CERTIFICATE_SERVER), log, log, log, log);
        char url[4400];
        snprintf(url, sizeof url, "rediss://%s:%s?timeout=200&connectTimeout=5000&sslTruststore=%s", hosts[i], port,
                 certificate_file(CERTIFICATE_AUTHORITY));
        assert_refused(url, RLOCK_UNAVAILABLE, REFUSED_FOR("did not answer")); /* it is no Redis */
        char *said = shell("while kill -0 $(cat '%s/pid') 2>/dev/null; do sleep 0.01; done; cat '%s'", scratch_folder(), log);
        bool told = strstr(said, "Hostname in TLS extension: \"localhost\"") != NULL;
        cr_assert(told == (i == 0), "%s:\n%s", hosts[i], said);
        free(said);
        free(port);
    }
}

/* --- our certificate --- */

Test(tls_trust, client_without_the_certificate_that_is_asked_for_is_told_so)
{
    static const char *const versions[] = {"TLSv1.2", "TLSv1.3"};
    for (int i = 0; i < 2; i++) {
        secure_stage(CERTIFICATE_SERVER, "yes", ARGS("--tls-protocols", versions[i]));
        assert_refused(secure_url("%s", ""), RLOCK_SERVER, REFUSED_FOR("localhost:", "requires a client certificate", "sslKeystore"));
        assert_serves(secure_url("sslKeystore=%s", secure_pem(CERTIFICATE_CLIENT)));
        assert_refused(secure_url("sslKeystore=%s", secure_pem(CERTIFICATE_OTHER_SERVER)), RLOCK_SERVER,
                       REFUSED_FOR("refuses the certificate in the sslKeystore", "other-server", "unknown CA"));
        assert_refused(secure_url("sslKeystore=%s", secure_pem(CERTIFICATE_EXPIRED)), RLOCK_SERVER,
                       REFUSED_FOR("refuses the certificate in the sslKeystore", "expired"));
        secure_close();
    }
}

Test(tls_trust, certificate_that_a_server_would_like_to_see_may_be_left_out)
{
    secure_stage(CERTIFICATE_SERVER, "optional", NULL);
    assert_serves(secure_url("%s", ""));
    assert_serves(secure_url("sslKeystore=%s", secure_pem(CERTIFICATE_CLIENT)));
}

/* --- stores --- */

Test(tls_trust, stores_of_java_in_pkcs12_serve_as_they_are)
{
    secure_stage(CERTIFICATE_SERVER, "yes", NULL);
    assert_serves(secure_url_at("localhost", "sslTruststore=%s&sslTruststorePassword=%s&sslKeystore=%s&sslKeystorePassword=%s",
                                certificate_trust_store(CERTIFICATE_AUTHORITY), CERTIFICATES_PASSWORD,
                                certificate_key_store(CERTIFICATE_CLIENT), CERTIFICATES_PASSWORD));
    assert_refused(secure_url_at("localhost", "sslTruststore=%s&sslTruststorePassword=%s",
                                 certificate_trust_store(CERTIFICATE_OTHER_AUTHORITY), CERTIFICATES_PASSWORD),
                   RLOCK_SERVER, REFUSED_FOR("rlock test authority"));
}

Test(tls_trust, store_that_does_not_open_is_refused_with_what_to_do)
{
    secure_stage(CERTIFICATE_SERVER, "yes", NULL);
    const char *trusted = certificate_trust_store(CERTIFICATE_AUTHORITY), *own = certificate_key_store(CERTIFICATE_CLIENT);
    assert_refused(secure_url_at("localhost", "sslTruststore=%s", trusted), RLOCK_INVALID,
                   REFUSED_FOR(trusted, "needs a password; set sslTruststorePassword"));
    assert_refused(secure_url_at("localhost", "sslTruststore=%s&sslTruststorePassword=wrong", trusted), RLOCK_INVALID,
                   REFUSED_FOR(trusted, "is not opened by sslTruststorePassword"));
    assert_refused(secure_url("sslKeystore=%s&sslKeystorePassword=wrong", own), RLOCK_INVALID,
                   REFUSED_FOR(own, "is not opened by sslKeystorePassword"));
    assert_refused(secure_url("sslKeystore=%s", own), RLOCK_INVALID, REFUSED_FOR("needs a password; set sslKeystorePassword"));
    assert_refused(secure_url("sslKeystore=%s", certificate_file(CERTIFICATE_CLIENT)), RLOCK_INVALID,
                   REFUSED_FOR("has no private key"));
    assert_refused(secure_url("sslKeystore=%s/none.pem", scratch_folder()), RLOCK_INVALID,
                   REFUSED_FOR("none.pem", "No such file"));
    assert_refused(secure_url_at("localhost", "sslTruststore=%s", certificate_key(CERTIFICATE_CLIENT)), RLOCK_INVALID,
                   REFUSED_FOR("has no certificate", "PEM or PKCS#12"));
    assert_refused(secure_url_at("localhost", "sslTruststore=%s", scratch_folder()), RLOCK_INVALID,
                   REFUSED_FOR("Is a directory"));
    /* of two others */
    shell_do("cat '%s' '%s' >'%s/mixed.pem'", certificate_file(CERTIFICATE_CLIENT), certificate_key(CERTIFICATE_SERVER),
             scratch_folder());
    assert_refused(secure_url("sslKeystore=%s/mixed.pem", scratch_folder()), RLOCK_INVALID,
                   REFUSED_FOR("mixed.pem", "certificate does not match its key"));
}

/* A library must not ask at the program's terminal. */
Test(tls_trust, key_in_pem_is_opened_by_its_password_alone)
{
    secure_stage(CERTIFICATE_SERVER, "yes", NULL);
    shell_do("cd '%s' && openssl pkey -aes256 -in '%s' -passout pass:secret -out key && cat '%s' key >locked.pem",
             scratch_folder(), certificate_key(CERTIFICATE_CLIENT), certificate_file(CERTIFICATE_CLIENT));
    assert_serves(secure_url("sslKeystore=%s/locked.pem&sslKeystorePassword=secret", scratch_folder()));
    assert_refused(secure_url("sslKeystore=%s/locked.pem&sslKeystorePassword=wrong", scratch_folder()), RLOCK_INVALID,
                   REFUSED_FOR("that sslKeystorePassword does not open"));
    assert_refused(secure_url("sslKeystore=%s/locked.pem", scratch_folder()), RLOCK_INVALID,
                   REFUSED_FOR("needs a password; set sslKeystorePassword"));
}

/* What such a file begins with is all that Java's format matters here. */
Test(tls_trust, java_keystore_is_refused_with_the_command_that_converts_it)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    shell_do("printf '\\376\\355\\376\\355\\000\\000\\000\\002' >'%s/trusted.jks'", scratch_folder());
    assert_refused(secure_url_at("localhost", "sslTruststore=%s/trusted.jks", scratch_folder()), RLOCK_INVALID,
                   REFUSED_FOR("trusted.jks", "keytool -importkeystore -srckeystore", "-deststoretype PKCS12"));
}

/* --- changes while a program runs --- */

/* A refusal is told at once, and not asked for again and again. */
Test(tls_trust, certificate_that_expires_meanwhile_refuses_the_next_connection)
{
    secure_open();
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    certificate_show(stage.server, CERTIFICATE_EXPIRED);
    assert_ok(rlock_lock(lock)); /* the connection has been trusted */
    assert_ok(rlock_unlock(lock));
    secure_kill_connections();
    int64_t since_ms = now_ms(), took_ms;
    assert_status(rlock_lock(lock), RLOCK_SERVER);
    took_ms = now_ms() - since_ms;
    assert_error("expired on");
    assert_between(took_ms, 0, at_most_ms(400)); /* before a second attempt there would be a pause of 500 ms */
    certificate_show(stage.server, CERTIFICATE_SERVER);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* Certificates are renewed while programs run; a half-written file is of no use and does no harm. */
Test(tls_trust, files_are_read_again_when_they_have_changed)
{
    secure_stage(CERTIFICATE_SERVER, "yes", NULL);
    const char *folder = scratch_folder();
    shell_do("cp '%s' '%s/trusted.pem' && cp '%s' '%s/own.pem'", certificate_file(CERTIFICATE_AUTHORITY), folder,
             secure_pem(CERTIFICATE_CLIENT), folder);
    rlock *lock = lock_of(secure_client(secure_url_at("localhost", "sslTruststore=%s/trusted.pem&sslKeystore=%s/own.pem",
                                                      folder, folder)), NAME);
    assert_ok(rlock_lock(lock));
    shell_do("printf garbage >'%s/trusted.pem'", folder);
    secure_kill_connections();
    assert_ok(rlock_unlock(lock));
    certificate_show(stage.server, CERTIFICATE_OTHER_SERVER);
    secure_kill_connections();
    assert_status(rlock_lock(lock), RLOCK_SERVER);
    shell_do("cp '%s' '%s/trusted.pem'", certificate_file(CERTIFICATE_OTHER_AUTHORITY), folder);
    assert_ok(rlock_lock(lock));
    shell_do("cp '%s' '%s/own.pem'", secure_pem(CERTIFICATE_EXPIRED), folder);
    secure_kill_connections();
    assert_status(rlock_unlock(lock), RLOCK_SERVER);
    assert_error("refuses the certificate");
}

/* --- versions and ciphers --- */

Test(tls_trust, either_version_is_spoken_where_the_server_speaks_it_alone)
{
    static const char *const versions[] = {"TLSv1.2", "TLSv1.3"};
    for (int i = 0; i < 2; i++) {
        secure_stage(CERTIFICATE_SERVER, "no", ARGS("--tls-protocols", versions[i]));
        assert_serves(secure_url("%s", ""));
        assert_serves(secure_url("sslProtocols=%s", versions[i]));
        assert_serves(secure_url("sslProtocols=TLSv1.2,TLSv1.3"));
        assert_refused(secure_url("sslProtocols=%s", versions[1 - i]), RLOCK_SERVER,
                       REFUSED_FOR("none of the TLS versions", "sslProtocols", versions[1 - i]));
        secure_close();
    }
}

Test(tls_trust, ciphers_go_by_the_names_of_openssl_and_of_java)
{
    secure_stage(CERTIFICATE_SERVER, "no", ARGS("--tls-ciphers", "ECDHE-ECDSA-AES256-GCM-SHA384", "--tls-ciphersuites",
                                                "TLS_AES_256_GCM_SHA384"));
    assert_serves(secure_url("sslCiphers=ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384"));
    assert_serves(secure_url("sslCiphers=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"));
    assert_serves(secure_url("sslCiphers=TLS_AES_256_GCM_SHA384"));
    assert_serves(secure_url("sslCiphers=TLS_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"));
    assert_refused(secure_url("sslCiphers=TLS_AES_128_GCM_SHA256"), RLOCK_SERVER,
                   REFUSED_FOR("compare its ciphers", "TLS_AES_128_GCM_SHA256"));
    assert_refused(secure_url("sslCiphers=ECDHE-ECDSA-AES128-GCM-SHA256"), RLOCK_SERVER, REFUSED_FOR("compare its ciphers"));
}

Test(tls_trust, versions_and_ciphers_that_are_none_are_refused)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    assert_refused(secure_url("sslProtocols=SSLv3"), RLOCK_INVALID, REFUSED_FOR("\"SSLv3\"", "TLSv1.3"));
    assert_refused(secure_url("sslProtocols=,"), RLOCK_INVALID, REFUSED_FOR("sslProtocols is empty"));
    assert_refused(secure_url("sslCiphers=ECDHE-ECDSA-AES128-GCM-SHA256,NONESUCH"), RLOCK_INVALID,
                   REFUSED_FOR("\"NONESUCH\"", "openssl ciphers"));
    assert_refused(secure_url("sslCiphers=TLS_AES_128_GCM_SHA256&sslProtocols=TLSv1.2"), RLOCK_INVALID,
                   REFUSED_FOR("no cipher for the versions"));
}

/* --- mix-ups --- */

Test(tls_trust, plain_port_and_tls_port_are_told_apart)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    server *plain = server_start();
    char url[256];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", server_port(stage.server));
    assert_refused(url, RLOCK_UNAVAILABLE, REFUSED_FOR("closed the connection", "rediss://"));
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d?connectTimeout=300&sslVerificationMode=NONE", server_port(plain));
    assert_refused(url, RLOCK_UNAVAILABLE, REFUSED_FOR("TLS handshake", "redis:// instead of rediss://"));
    server_stop(plain);
}
