/* A TLS store: the certificates and the key in a PEM or PKCS#12 file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_store.h"

#include "base/error.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A bundle of all public CAs has a quarter of a megabyte. */
#define STORE_MAX (16 * 1024 * 1024)

/* The file being read, for messages. */
typedef struct source {
    const char *setting, *path, *password;
} source;

static rlock_status refuse(const source *from, const char *why)
{
    return rli_fail(RLOCK_INVALID, "%s \"%.120s\" %s", from->setting, from->path, why);
}

static rlock_status no_memory(const source *from)
{
    return rli_fail(RLOCK_NO_MEMORY, "out of memory for the %s", from->setting);
}

const char *rli_tls_store_path(const char *setting)
{
    if (strncmp(setting, "file://", 7) == 0)
        return setting + 7;
    return strncmp(setting, "file:", 5) == 0 ? setting + 5 : setting;
}

/* --- the file --- */

static rlock_status load(const source *from, BIO *content)
{
    char bytes[8192], why[160];
    FILE *file = fopen(from->path, "re");
    if (!file) {
        snprintf(why, sizeof why, "cannot be read: %.100s", strerror(errno));
        return refuse(from, why);
    }
    rlock_status status = RLOCK_OK;
    size_t length;
    while (status == RLOCK_OK && (length = fread(bytes, 1, sizeof bytes, file)) > 0) {
        if (BIO_pending(content) > STORE_MAX)
            status = refuse(from, "is larger than 16 MiB, the limit for a store");
        else if (BIO_write(content, bytes, (int)length) != (int)length)
            status = no_memory(from);
    }
    if (status == RLOCK_OK && ferror(file)) {
        snprintf(why, sizeof why, "cannot be read: %.100s", strerror(errno));
        status = refuse(from, why);
    }
    fclose(file);
    return status;
}

/* --- PEM --- */

/* Replaces OpenSSL's own callback, which would ask at the terminal. */
static int tell_password(char *buffer, int size, int writing, void *password)
{
    (void)writing;
    size_t length = password ? strlen(password) : 0;
    if (length == 0 || length > (size_t)size)
        return -1;
    memcpy(buffer, password, length);
    return (int)length;
}

static bool add(rli_tls_store *store, X509 *certificate)
{
    if (certificate && sk_X509_push(store->certificates, certificate) > 0)
        return true;
    X509_free(certificate);
    return false;
}

static rlock_status read_pem_key(rli_tls_store *store, const source *from, BIO *content)
{
    char *bytes;
    (void)BIO_seek(content, 0);
    long length = BIO_get_mem_data(content, &bytes);
    if (!memmem(bytes, (size_t)length, "PRIVATE KEY-----", 16))
        return refuse(from,
                      "has no private key; put the certificate and its key into one PEM file, or into a PKCS#12 one");
    store->key = PEM_read_bio_PrivateKey(content, NULL, tell_password, (void *)(uintptr_t)from->password);
    if (store->key)
        return RLOCK_OK;
    return refuse(from, from->password ? "has a private key that sslKeystorePassword does not open"
                                       : "has a private key that needs a password; set sslKeystorePassword");
}

static rlock_status read_pem(rli_tls_store *store, const source *from, BIO *content, bool wants_key)
{
    X509 *certificate;
    ERR_clear_error();
    while ((certificate = PEM_read_bio_X509_AUX(content, NULL, tell_password, NULL))) {
        if (!add(store, certificate))
            return no_memory(from);
    }
    unsigned long error = ERR_peek_last_error();
    if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
        return refuse(from, "has a damaged certificate");
    return wants_key && sk_X509_num(store->certificates) > 0 ? read_pem_key(store, from, content) : RLOCK_OK;
}

/* --- PKCS#12 --- */

static rlock_status refuse_pkcs12(const source *from)
{
    unsigned long error = ERR_peek_error(); /* the first error is the cause */
    char why[200];
    if (ERR_GET_LIB(error) == ERR_LIB_PKCS12 && ERR_GET_REASON(error) == PKCS12_R_MAC_VERIFY_FAILURE) {
        snprintf(why, sizeof why, from->password ? "is not opened by %sPassword" : "needs a password; set %sPassword",
                 from->setting);
        return refuse(from, why);
    }
    const char *reason = ERR_reason_error_string(error);
    if (reason && strstr(reason, "unsupported"))
        return refuse(from, "is encrypted in a way that OpenSSL has retired; make it again with a newer keytool or "
                            "openssl pkcs12");
    snprintf(why, sizeof why, "is not a sound PKCS#12 file: %.100s", reason ? reason : "unknown error");
    return refuse(from, why);
}

static rlock_status read_pkcs12(rli_tls_store *store, const source *from, PKCS12 *packed, bool wants_key)
{
    EVP_PKEY *key = NULL;
    X509 *own = NULL;
    STACK_OF(X509) *others = NULL;
    ERR_clear_error();
    if (!PKCS12_parse(packed, from->password, &key, &own, &others))
        return refuse_pkcs12(from);
    rlock_status status = RLOCK_OK;
    if (wants_key && (!key || !own))
        status = refuse(from, "has no certificate with its private key");
    if (own && !add(store, own))
        status = no_memory(from);
    while (others && sk_X509_num(others) > 0) {
        if (!add(store, sk_X509_shift(others)))
            status = no_memory(from);
    }
    sk_X509_free(others);
    if (wants_key)
        store->key = key;
    else
        EVP_PKEY_free(key);
    return status;
}

/* --- either format --- */

/* A JKS or JCEKS keystore: Java's default before PKCS#12. */
static bool is_javas(const unsigned char *bytes, long length)
{
    return length > 4 && (memcmp(bytes, "\xFE\xED\xFE\xED", 4) == 0 || memcmp(bytes, "\xCE\xCE\xCE\xCE", 4) == 0);
}

static rlock_status read_content(rli_tls_store *store, const source *from, BIO *content, bool wants_key)
{
    char *bytes;
    long length = BIO_get_mem_data(content, &bytes);
    if (is_javas((unsigned char *)bytes, length))
        return rli_fail(RLOCK_INVALID,
                        "%s \"%.120s\" is a Java keystore (JKS), which Java alone reads; convert it: "
                        "keytool -importkeystore -srckeystore %.120s -destkeystore %.120s.p12 -deststoretype PKCS12",
                        from->setting, from->path, from->path, from->path);
    if (length > 0 && *bytes == 0x30) {
        const unsigned char *at = (const unsigned char *)bytes;
        PKCS12 *packed = d2i_PKCS12(NULL, &at, length);
        if (packed) {
            rlock_status status = read_pkcs12(store, from, packed, wants_key);
            PKCS12_free(packed);
            return status;
        }
    }
    /* PEM is read through a view that can be read twice: for the certificates and for the key. */
    BIO *view = BIO_new_mem_buf(bytes, (int)length);
    if (!view)
        return no_memory(from);
    rlock_status status = read_pem(store, from, view, wants_key);
    BIO_free(view);
    return status;
}

static rlock_status read_store(rli_tls_store *store, const source *from, bool wants_key)
{
    *store = (rli_tls_store){.certificates = sk_X509_new_null()};
    BIO *content = BIO_new(BIO_s_mem());
    rlock_status status = store->certificates && content ? load(from, content) : no_memory(from);
    if (status == RLOCK_OK)
        status = read_content(store, from, content, wants_key);
    if (status == RLOCK_OK && sk_X509_num(store->certificates) == 0)
        status = refuse(from, "has no certificate; it must be a PEM or PKCS#12 file");
    BIO_free(content);
    ERR_clear_error();
    if (status != RLOCK_OK)
        rli_tls_store_free(store);
    return status;
}

rlock_status rli_tls_read_trusted(rli_tls_store *store, const char *path, const char *password)
{
    return read_store(store, &(source){"sslTruststore", path, password}, false);
}

rlock_status rli_tls_read_own(rli_tls_store *store, const char *path, const char *password)
{
    return read_store(store, &(source){"sslKeystore", path, password}, true);
}

void rli_tls_store_free(rli_tls_store *store)
{
    sk_X509_pop_free(store->certificates, X509_free);
    EVP_PKEY_free(store->key);
    *store = (rli_tls_store){0};
}
