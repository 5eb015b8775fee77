/* Secrets: no message has a password in it, neither from a server's words nor from a URL. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/stage.h"

#include <stdio.h>
#include <string.h>

TestSuite(secret, .fini = stage_close);

#define SECRET "s3cr3t-pass"
/* Longer than the 128 bytes of arguments that Redis repeats. */
#define LONG_SECRET "s3cr3t-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-" \
                    "0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789"

static void assert_kept_secret(const char *text)
{
    cr_assert(!strstr(text, "s3cr"), "the password is told: %s", text);
}

static void assert_fails(const char *url, rlock_status expected, const char *words)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, url);
    assert_kept_secret(rlock_last_error());
    cr_assert(status == expected && strstr(rlock_last_error(), words), "%s: %s, %s", url, rlock_strstatus(status),
              rlock_last_error());
}

static const char *tcp(const char *user)
{
    static char url[512];
    snprintf(url, sizeof url, "redis://%s@127.0.0.1:%d", user, server_port(stage.server));
    return url;
}

/* --- from a server's words --- */

/* Then Redis says: unknown command 'AUTH', with args beginning with: 's3cr3t-pass' */
Test(secret, is_not_in_what_is_said_of_a_server_that_does_not_know_AUTH)
{
    stage.server = server_start_with((const char *const[]){"--rename-command", "AUTH", "LOGIN", NULL});
    assert_fails(tcp(":" SECRET), RLOCK_SERVER, "unknown command 'AUTH'");
    assert_fails(tcp("bob:" SECRET), RLOCK_SERVER, "unknown command 'AUTH'");
    assert_fails(tcp(":" LONG_SECRET), RLOCK_SERVER, "AUTH");
    assert_fails(tcp("s3cr3t-user:" SECRET), RLOCK_SERVER, "AUTH");
}

/* --- from a URL --- */

/* A user who forgets half of redis://:password@host writes redis://password. */
Test(secret, is_not_shown_as_a_host)
{
    assert_fails("redis://s3cr3t", RLOCK_UNAVAILABLE, "write :password@host");
    assert_fails("redis://s3cr3t.pass", RLOCK_UNAVAILABLE, "write :password@host");
    assert_fails("redis://s3cr3t/1?timeout=500", RLOCK_UNAVAILABLE, "write :password@host");
    assert_fails("rediss://s3cr3t", RLOCK_UNAVAILABLE, "write :password@host");
    assert_fails("redis-sentinel://s3cr3t/?masterName=m", RLOCK_UNAVAILABLE, "write :password@host");
    assert_fails("redis-cluster://s3cr3t", RLOCK_UNAVAILABLE, "write :password@host");
    assert_fails("redis-replicated://s3cr3t", RLOCK_UNAVAILABLE, "write :password@host");
    assert_fails("redis-master-slave://s3cr3t", RLOCK_UNAVAILABLE, "write :password@host");
}

Test(secret, is_not_shown_where_no_host_has_such_letters)
{
    assert_fails("redis://s3cr3t!", RLOCK_INVALID, "host");
    assert_fails("redis://s3cr3t$pass", RLOCK_INVALID, "host");
    assert_fails("redis://s3cr3t%3Apass", RLOCK_INVALID, "host");
    assert_fails("redis://s3cr3t pass", RLOCK_INVALID, "host");
}

/* A host that is named with its port, or behind an @, is one, and is shown. */
Test(secret, is_no_reason_to_hide_a_host)
{
    assert_fails("redis://no-such-host.invalid:6379", RLOCK_UNAVAILABLE, "no-such-host.invalid");
    assert_fails("redis://no-such-host.invalid:6379", RLOCK_UNAVAILABLE, "check the name of the host");
    assert_fails("redis://:" SECRET "@no-such-host.invalid", RLOCK_UNAVAILABLE, "no-such-host.invalid");
    stage.server = server_start();
    server_kill(stage.server);
    char url[64];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", server_port(stage.server));
    assert_fails(url, RLOCK_UNAVAILABLE, "127.0.0.1");
}

/* --- from a command line --- */

static void refuses(const char *const *words)
{
    outcome found = command_outcome(NULL, words);
    cr_assert(found.status == 64, "%d: %s", found.status, found.err);
    assert_kept_secret(found.err);
    assert_kept_secret(found.out);
    outcome_free(&found);
}

#define SECRET_URL "redis://:" SECRET "@127.0.0.1"

Test(secret, is_not_repeated_by_the_command)
{
    refuses(COMMAND(SECRET_URL));
    refuses(COMMAND("inspect", "order", SECRET_URL));
    refuses(COMMAND("inspect", "order", "--ulr=" SECRET_URL));
    refuses(COMMAND("inspect", "order", "--password=" SECRET));
    refuses(COMMAND("inspect", "order", "--json=" SECRET));
    refuses(COMMAND("inspect", "order", "--kind", SECRET_URL));
    refuses(COMMAND("run", "order", "--wait", SECRET_URL, "--", "true"));
    refuses(COMMAND("run", "order", "--permits", SECRET_URL, "--", "true"));
    refuses(COMMAND("bench", "--threads", SECRET_URL));
}
