/* Certificates for TLS, made with the openssl command when they are first asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/certificates.h"

#include "tests/support/folder.h"
#include "tests/support/server.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define LOCAL_NAMES "DNS:localhost,IP:127.0.0.1"

static const struct kind {
    const char *file, *common_name;
    const char *names; /* NULL: an authority, which signs itself */
    bool expired;
    certificate signer;
} kinds[] = {
    [CERTIFICATE_AUTHORITY] = {"authority", "rlock test authority", NULL, false, CERTIFICATE_AUTHORITY},
    [CERTIFICATE_SERVER] = {"server", "localhost", LOCAL_NAMES, false, CERTIFICATE_AUTHORITY},
    [CERTIFICATE_CLIENT] = {"client", "rlock-client", "DNS:rlock-client", false, CERTIFICATE_AUTHORITY},
    [CERTIFICATE_EXPIRED] = {"expired", "localhost", LOCAL_NAMES, true, CERTIFICATE_AUTHORITY},
    [CERTIFICATE_OTHER_NAME] = {"other-name", "elsewhere.example", "DNS:elsewhere.example", false,
                                CERTIFICATE_AUTHORITY},
    [CERTIFICATE_OTHER_AUTHORITY] = {"other-authority", "another test authority", NULL, false,
                                     CERTIFICATE_OTHER_AUTHORITY},
    [CERTIFICATE_OTHER_SERVER] = {"other-server", "localhost", LOCAL_NAMES, false, CERTIFICATE_OTHER_AUTHORITY},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Of this process: a child that a test forks shares what its parent had made, and the parent's folder. */
static struct {
    bool begun;
    folder folder;
    struct made {
        char file[160], key[160], key_store[160], trust_store[160]; /* "": not made */
    } made[KINDS];
} all;

static const char *in_folder(char path[static 160], const char *name, const char *end)
{
    snprintf(path, 160, "%s/%s%s", all.folder.path, name, end);
    return path;
}

/* An authority signs itself; its key may sign others. */
static void make_authority(const struct kind *kind, const char *file, const char *key)
{
    shell_do("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj '/CN=%s' "
             "-addext 'keyUsage=critical,keyCertSign,cRLSign' -keyout '%s' -out '%s'",
             kind->common_name, key, file);
}

/* `x509 -days` takes negative numbers: such a one ended yesterday. */
static void make_signed(const struct kind *kind, const char *file, const char *key)
{
    const char *signer = certificate_file(kind->signer), *signer_key = certificate_key(kind->signer);
    shell_do("openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=%s' "
             "-addext 'subjectAltName=%s' -keyout '%s' -out '%s.csr' && "
             "printf 'basicConstraints=CA:FALSE\\nsubjectAltName=%s\\n' >'%s.ext' && "
             "openssl x509 -req -in '%s.csr' -CA '%s' -CAkey '%s' -set_serial 0x%d%d -days %d -extfile '%s.ext' "
             "-out '%s'",
             kind->common_name, kind->names, key, key, kind->names, key, key, signer, signer_key, (int)getpid(),
             (int)(kind - kinds), kind->expired ? -1 : 2, key, file);
}

static struct made *made(certificate which)
{
    if (!all.begun)
        folder_make(&all.folder);
    all.begun = true;
    struct made *self = &all.made[which];
    if (*self->file)
        return self;
    const struct kind *kind = &kinds[which];
    char file[160], key[160];
    in_folder(file, kind->file, ".crt");
    in_folder(key, kind->file, ".key");
    (kind->names ? make_signed : make_authority)(kind, file, key);
    snprintf(self->key, sizeof self->key, "%s", key);
    snprintf(self->file, sizeof self->file, "%s", file);
    return self;
}

const char *certificate_file(certificate which)
{
    return made(which)->file;
}

const char *certificate_key(certificate which)
{
    return made(which)->key;
}

const char *certificate_key_store(certificate which)
{
    struct made *self = made(which);
    if (!*self->key_store) {
        in_folder(self->key_store, kinds[which].file, ".p12");
        shell_do("openssl pkcs12 -export -in '%s' -inkey '%s' -name %s -passout pass:" CERTIFICATES_PASSWORD
                 " -out '%s'",
                 self->file, self->key, kinds[which].file, self->key_store);
    }
    return self->key_store;
}

/* Java trusts an entry that is marked as trusted, which openssl does from 3.2 on alone. */
const char *certificate_trust_store(certificate which)
{
    struct made *self = made(which);
    if (!*self->trust_store) {
        in_folder(self->trust_store, kinds[which].file, "-trust.p12");
        shell_do("if command -v keytool; then "
                 "keytool -importcert -noprompt -alias %s -file '%s' -storetype PKCS12 "
                 "-storepass " CERTIFICATES_PASSWORD " -keystore '%s'; "
                 "else openssl pkcs12 -export -nokeys -in '%s' -passout pass:" CERTIFICATES_PASSWORD " -out '%s'; fi",
                 kinds[which].file, self->file, self->trust_store, self->file, self->trust_store);
    }
    return self->trust_store;
}

const char *const *certificates_args(texts *kept, certificate shown, const char *clients, const char *const *args)
{
    return texts_args(kept,
                      ARGS("--tls-cert-file", certificate_file(shown), "--tls-key-file", certificate_key(shown),
                           "--tls-ca-cert-file", certificate_file(CERTIFICATE_AUTHORITY), "--tls-auth-clients", clients,
                           "--tls-replication", "yes", "--tls-cluster", "yes"),
                      args);
}

void certificate_show(server *on, certificate shown)
{
    redisReply *reply = server_command(on, "CONFIG SET tls-cert-file %s tls-key-file %s", certificate_file(shown),
                                       certificate_key(shown));
    cr_assert(reply->type != REDIS_REPLY_ERROR, "CONFIG SET: %s", reply->str);
    freeReplyObject(reply);
}
