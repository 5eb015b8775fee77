/* A TLS context: what all TLS connections of a client share. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_context.h"

#include "base/error.h"
#include "net/tls_store.h"
#include "net/tls_trouble.h"

#include <openssl/err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Identifies one version of a file's content. */
typedef struct version {
    ino_t inode;
    off_t size;
    struct timespec written;
} version;

enum { TRUSTED, OWN, FILES };

struct rli_tls_context {
    pthread_mutex_t mutex; /* guards all below; held while files are read, so that only one thread reads them */
    SSL_CTX *shared;
    version versions[FILES];
};

/* --- protocols --- */

static const struct protocol {
    const char *name;
    int version;
    uint64_t without; /* the option that excludes it */
} protocols[] = {
    {"TLSv1", TLS1_VERSION, SSL_OP_NO_TLSv1},
    {"TLSv1.1", TLS1_1_VERSION, SSL_OP_NO_TLSv1_1},
    {"TLSv1.2", TLS1_2_VERSION, SSL_OP_NO_TLSv1_2},
    {"TLSv1.3", TLS1_3_VERSION, SSL_OP_NO_TLSv1_3},
};
#define PROTOCOLS (sizeof protocols / sizeof *protocols)

#define BETWEEN ",: " /* the separators in a list */

/* The next item of a list, its length in *length; NULL at the end. Begin with `list` at its start and *length at 0. */
static const char *next_item(const char *list, size_t *length)
{
    const char *item = list + *length + strspn(list + *length, BETWEEN);
    *length = strcspn(item, BETWEEN);
    return *length ? item : NULL;
}

static rlock_status choose_protocols(SSL_CTX *shared, const char *list)
{
    bool chosen[PROTOCOLS] = {false};
    size_t length = 0, lowest = PROTOCOLS, highest = 0;
    for (const char *item = list; (item = next_item(item, &length));) {
        size_t i = 0;
        while (i < PROTOCOLS && (strlen(protocols[i].name) != length || memcmp(protocols[i].name, item, length) != 0))
            i++;
        if (i == PROTOCOLS)
            return rli_fail(RLOCK_INVALID, "sslProtocols has \"%.*s\"; known are TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3",
                            (int)(length > 40 ? 40 : length), item);
        chosen[i] = true;
        lowest = i < lowest ? i : lowest;
        highest = i > highest ? i : highest;
    }
    if (lowest == PROTOCOLS)
        return rli_fail(RLOCK_INVALID, "sslProtocols is empty; write for example TLSv1.2,TLSv1.3");
    SSL_CTX_set_min_proto_version(shared, protocols[lowest].version);
    SSL_CTX_set_max_proto_version(shared, protocols[highest].version);
    for (size_t i = lowest; i < highest; i++) {
        if (!chosen[i])
            SSL_CTX_set_options(shared, protocols[i].without);
    }
    return RLOCK_OK;
}

/* --- ciphers --- */

/* OpenSSL keeps the TLS 1.3 ciphers in a separate list. Their names are the same everywhere. The others have an
 * OpenSSL name and the standard's name, which Java uses: TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384. */
static bool is_of_tls13(const char *name)
{
    return strncmp(name, "TLS_", 4) == 0 && !strstr(name, "_WITH_");
}

static const char *openssl_name(const char *name)
{
    const char *known = strstr(name, "_WITH_") ? OPENSSL_cipher_name(name) : name;
    return known && strcmp(known, "(NONE)") != 0 ? known : name;
}

/* A list of ciphers in which OpenSSL's names replace the standard's. */
typedef struct cipher_list {
    char text[4096];
    size_t length;
} cipher_list;

static bool append(cipher_list *list, const char *name)
{
    int n = snprintf(list->text + list->length, sizeof list->text - list->length, "%s%s", list->length ? ":" : "",
                     name);
    if (n < 0 || (size_t)n >= sizeof list->text - list->length)
        return false;
    list->length += (size_t)n;
    return true;
}

static rlock_status unknown_cipher(const char *name)
{
    return rli_fail(RLOCK_INVALID,
                    "sslCiphers has \"%.60s\", which this OpenSSL does not know; `openssl ciphers -stdname` "
                    "lists those that it knows",
                    name);
}

/* Sorts the items of `list` into two lists, and tests each of them alone. */
static rlock_status sort_ciphers(SSL_CTX *shared, const char *list, cipher_list *older, cipher_list *tls13)
{
    size_t length = 0;
    for (const char *item = list; (item = next_item(item, &length));) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)(length > 120 ? 120 : length), item);
        bool newer = is_of_tls13(name);
        bool plain = !strchr("!-+@", *name); /* operators of OpenSSL's cipher syntax cannot be tested alone */
        if (newer ? !SSL_CTX_set_ciphersuites(shared, name)
                  : plain && !SSL_CTX_set_cipher_list(shared, openssl_name(name)))
            return unknown_cipher(name);
        if (!append(newer ? tls13 : older, newer ? name : openssl_name(name)))
            return rli_fail(RLOCK_INVALID, "sslCiphers is too long");
    }
    return RLOCK_OK;
}

/* Narrows the versions that are offered to those for which a cipher is allowed. */
static rlock_status narrow_versions(SSL_CTX *shared, bool older, bool tls13)
{
    int lowest = (int)SSL_CTX_get_min_proto_version(shared), highest = (int)SSL_CTX_get_max_proto_version(shared);
    if (!tls13 && (highest == 0 || highest > TLS1_2_VERSION))
        highest = TLS1_2_VERSION;
    if (!older)
        lowest = TLS1_3_VERSION;
    if (highest && lowest > highest)
        return rli_fail(RLOCK_INVALID, "sslCiphers has no cipher for the versions in sslProtocols");
    SSL_CTX_set_min_proto_version(shared, lowest);
    SSL_CTX_set_max_proto_version(shared, highest);
    return RLOCK_OK;
}

static rlock_status choose_ciphers(SSL_CTX *shared, const char *list)
{
    cipher_list older = {.length = 0}, tls13 = {.length = 0};
    rlock_status status = sort_ciphers(shared, list, &older, &tls13);
    if (status != RLOCK_OK)
        return status;
    if (!older.length && !tls13.length)
        return rli_fail(RLOCK_INVALID, "sslCiphers is empty; leave it out for the default of OpenSSL");
    if (older.length && !SSL_CTX_set_cipher_list(shared, older.text))
        return unknown_cipher(older.text);
    if (!SSL_CTX_set_ciphersuites(shared, tls13.text))
        return unknown_cipher(tls13.text);
    return narrow_versions(shared, older.length > 0, tls13.length > 0);
}

/* --- stores --- */

static rlock_status trust(SSL_CTX *shared, const rli_tls *settings)
{
    if (settings->verification == RLI_VERIFY_NONE)
        return RLOCK_OK;
    if (!settings->truststore) {
        SSL_CTX_set_default_verify_paths(shared); /* if the system has none, no certificate is trusted */
        return RLOCK_OK;
    }
    rli_tls_store store;
    rlock_status status = rli_tls_read_trusted(&store, rli_tls_store_path(settings->truststore),
                                               settings->truststore_password);
    if (status != RLOCK_OK)
        return status;
    for (int i = 0; i < sk_X509_num(store.certificates) && status == RLOCK_OK; i++) {
        if (!X509_STORE_add_cert(SSL_CTX_get_cert_store(shared), sk_X509_value(store.certificates, i)))
            status = rli_fail(RLOCK_NO_MEMORY, "out of memory for the sslTruststore");
    }
    rli_tls_store_free(&store);
    return status;
}

static rlock_status present(SSL_CTX *shared, const rli_tls *settings)
{
    if (!settings->keystore)
        return RLOCK_OK;
    const char *path = rli_tls_store_path(settings->keystore);
    rli_tls_store store;
    rlock_status status = rli_tls_read_own(&store, path, settings->keystore_password);
    if (status != RLOCK_OK)
        return status;
    ERR_clear_error();
    bool fits = SSL_CTX_use_certificate(shared, sk_X509_value(store.certificates, 0)) == 1 &&
                SSL_CTX_use_PrivateKey(shared, store.key) == 1 && SSL_CTX_check_private_key(shared) == 1;
    for (int i = 1; i < sk_X509_num(store.certificates) && fits; i++)
        fits = SSL_CTX_add1_chain_cert(shared, sk_X509_value(store.certificates, i)) == 1;
    if (!fits) {
        const char *reason = ERR_reason_error_string(ERR_peek_error());
        status = rli_fail(RLOCK_INVALID, "sslKeystore \"%.120s\": its first certificate does not match its key: %.100s",
                          path, reason ? reason : "unknown error");
    }
    rli_tls_store_free(&store);
    return status;
}

/* --- the whole --- */

static rlock_status make(SSL_CTX **made, const rli_tls *settings)
{
    SSL_CTX *shared = SSL_CTX_new(TLS_client_method());
    if (!shared)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for TLS");
    SSL_CTX_set_min_proto_version(shared, TLS1_2_VERSION);
    SSL_CTX_set_options(shared, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(shared, SSL_SESS_CACHE_OFF);
    rli_tls_trouble_watch(shared, settings->verification != RLI_VERIFY_NONE);
    rlock_status status = settings->protocols ? choose_protocols(shared, settings->protocols) : RLOCK_OK;
    if (status == RLOCK_OK && settings->ciphers)
        status = choose_ciphers(shared, settings->ciphers);
    if (status == RLOCK_OK)
        status = trust(shared, settings);
    if (status == RLOCK_OK)
        status = present(shared, settings);
    ERR_clear_error();
    if (status == RLOCK_OK)
        *made = shared;
    else
        SSL_CTX_free(shared);
    return status;
}

static version version_of(const char *setting)
{
    struct stat found;
    if (!setting || stat(rli_tls_store_path(setting), &found) != 0)
        return (version){0};
    return (version){found.st_ino, found.st_size, found.st_mtim};
}

static bool same(const version *a, const version *b)
{
    return a->inode == b->inode && a->size == b->size && a->written.tv_sec == b->written.tv_sec &&
           a->written.tv_nsec == b->written.tv_nsec;
}

/* Replaces the shared context if a file has changed. Mutex held. A file that is just being written may be invalid:
 * then keep the old context, and the next connection tries again. */
static void refresh(rli_tls_context *context, const rli_tls *settings)
{
    version versions[FILES] = {version_of(settings->truststore), version_of(settings->keystore)};
    if (same(&versions[TRUSTED], &context->versions[TRUSTED]) && same(&versions[OWN], &context->versions[OWN]))
        return;
    SSL_CTX *made;
    if (make(&made, settings) != RLOCK_OK)
        return;
    SSL_CTX_free(context->shared);
    context->shared = made;
    memcpy(context->versions, versions, sizeof versions);
}

rlock_status rli_tls_context_open(rli_tls *settings)
{
    if (!settings->on)
        return RLOCK_OK;
    /* Otherwise OpenSSL would clean up at exit while our threads still use it. */
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    rli_tls_context *context = calloc(1, sizeof *context);
    if (!context)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for TLS");
    context->versions[TRUSTED] = version_of(settings->truststore);
    context->versions[OWN] = version_of(settings->keystore);
    rlock_status status = make(&context->shared, settings);
    if (status != RLOCK_OK) {
        free(context);
        return status;
    }
    pthread_mutex_init(&context->mutex, NULL);
    settings->context = context;
    return RLOCK_OK;
}

void rli_tls_context_close(rli_tls *settings)
{
    if (!settings->context)
        return;
    SSL_CTX_free(settings->context->shared);
    pthread_mutex_destroy(&settings->context->mutex);
    free(settings->context);
    settings->context = NULL;
}

SSL *rli_tls_context_connect(const rli_tls *settings)
{
    rli_tls_context *context = settings->context;
    pthread_mutex_lock(&context->mutex);
    refresh(context, settings);
    SSL *ssl = SSL_new(context->shared);
    pthread_mutex_unlock(&context->mutex);
    return ssl;
}
