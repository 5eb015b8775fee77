/* Certificates for TLS, made with the openssl command when they are first asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/certificates.h"

#include "tests/support/folder.h"
#include "tests/support/server_parts.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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

/* For one that has ended, newer versions of openssl have two options; older ones take a negative number of days. */
static void make_signed(const struct kind *kind, const char *file, const char *key)
{
    const char *signer = certificate_file(kind->signer), *signer_key = certificate_key(kind->signer);
    shell_do("openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=%s' "
             "-keyout '%s' -out '%s.csr' && "
             "printf 'basicConstraints=CA:FALSE\nsubjectAltName=%s\n' >'%s.ext' && "
             "sign() { openssl x509 -req -in '%s.csr' -CA '%s' -CAkey '%s' -set_serial 0x%d%d -extfile '%s.ext' "
             "-out '%s' \"$@\"; } && "
             "if %s; then sign -not_before 20200101000000Z -not_after 20200102000000Z || sign -days -1; "
             "else sign -days 2; fi",
             kind->common_name, key, key, kind->names, key, key, signer, signer_key, (int)getpid(),
             (int)(kind - kinds), key, file, kind->expired ? "true" : "false");
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

static void set(server *on, const char *name, const char *value)
{
    redisReply *reply = server_command(on, "CONFIG SET %s %s", name, value);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "CONFIG SET %s %s: %s", name, value, reply->str);
    freeReplyObject(reply);
}

static bool shows_from(server *on, const char *path)
{
    redisReply *reply = server_command(on, "CONFIG GET tls-cert-file");
    bool so = reply->elements == 2 && strcmp(reply->element[1]->str, path) == 0;
    freeReplyObject(reply);
    return so;
}

/* Redis 6.2 sets one file at a time, and takes none that does not go with the other. So both are written
 * anew where they are, and the server reads both again when one of them is called by another name. */
void certificate_show(server *on, certificate shown)
{
    char file[200], again[200], key[200];
    snprintf(file, sizeof file, "%s/shown.crt", server_folder(on));
    snprintf(again, sizeof again, "%s/./shown.crt", server_folder(on));
    snprintf(key, sizeof key, "%s/shown.key", server_folder(on));
    if (!shows_from(on, file) && !shows_from(on, again)) {
        shell_do("cp '%s' '%s' && cp '%s' '%s'", server_argument(on, "--tls-cert-file"), file,
                 server_argument(on, "--tls-key-file"), key);
        set(on, "tls-cert-file", file);
        set(on, "tls-key-file", key);
    }
    shell_do("cp '%s' '%s' && cp '%s' '%s'", certificate_file(shown), file, certificate_key(shown), key);
    set(on, "tls-cert-file", shows_from(on, file) ? again : file);
}
