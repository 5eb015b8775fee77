/* A secure stage: the stage's server speaks TLS on its port, and clients that reach it there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/secure.h"

#include "tests/integration/support/kinds.h"
#include "tests/support/shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS 32

static texts kept;
static rlock_client *clients[CLIENTS];
static int client_count;

void secure_stage(certificate shown, const char *asked, const char *const *args)
{
    alarm(HANG_S);
    stage.server = server_start_with(certificates_args(&kept, shown, asked, args));
}

void secure_open(void)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    stage.client = secure_client(secure_url("%s", ""));
    stage.other = secure_client(secure_url("%s", ""));
}

void secure_quick(void)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    stage.client = secure_client(secure_url("%s", STAGE_QUICK));
    stage.other = secure_client(secure_url("%s", STAGE_QUICK));
}

void secure_close(void)
{
    for (int i = 0; i < client_count; i++)
        rlock_client_close(clients[i]);
    client_count = 0;
    stage_close();
    scratch_remove();
    texts_free(&kept);
}

static const char *add_query(const char *base, char mark, const char *format, va_list args)
{
    char query[1024];
    vsnprintf(query, sizeof query, format, args);
    const char *patient = stage_patient_query(*query ? query : NULL);
    return patient ? texts_add(&kept, "%s%c%s", base, mark, patient) : base;
}

const char *secure_url(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *url = add_query(texts_add(&kept, "rediss://localhost:%d?sslTruststore=%s", server_port(stage.server),
                                          certificate_file(CERTIFICATE_AUTHORITY)), '&', format, args);
    va_end(args);
    return url;
}

const char *secure_url_at(const char *host, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *url = add_query(texts_add(&kept, "rediss://%s:%d", host, server_port(stage.server)), '?', format, args);
    va_end(args);
    return url;
}

rlock_client *secure_client(const char *url)
{
    cr_assert(client_count < CLIENTS, "too many clients on the stage");
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, url));
    return clients[client_count++] = client;
}

void assert_refused(const char *url, rlock_status expected, const char *const *words)
{
    rlock_client *client = NULL;
    assert_status(rlock_client_open(&client, url), expected);
    cr_assert(client == NULL);
    for (; *words; words++)
        cr_assert(strstr(rlock_last_error(), *words) != NULL, "no \"%s\" in: %s", *words, rlock_last_error());
}

void assert_serves(const char *url)
{
    rlock *lock = lock_of(secure_client(url), "served");
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(stage.server, "EXISTS served") == 1);
    assert_ok(rlock_unlock(lock));
}

const char *secure_pem(certificate own)
{
    const char *path = texts_add(&kept, "%s.pem", certificate_file(own));
    shell_do("cat '%s' '%s' >'%s'", certificate_file(own), certificate_key(own), path);
    return path;
}

void secure_kill_connections(void)
{
    freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE normal SKIPME yes"));
    freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE pubsub SKIPME yes"));
}
