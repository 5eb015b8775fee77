/* TLS trouble: describes in words what went wrong between a server and us. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_trouble.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

__attribute__((format(printf, 2, 3))) static void note(rli_tls_trouble *trouble, const char *format, ...)
{
    if (*trouble->why)
        return; /* the first problem is the cause of the others */
    va_list args;
    va_start(args, format);
    vsnprintf(trouble->why, sizeof trouble->why, format, args);
    va_end(args);
    for (char *c = trouble->why; *c; c++) {
        if ((unsigned char)*c < ' ')
            *c = '?'; /* parts of the text come from the server */
    }
}

/* --- certificates --- */

/* A short text that is appended to, and cut at its maximum length. */
typedef struct text {
    char bytes[140];
    size_t length;
} text;

static void append(text *to, const char *bytes, size_t length)
{
    if (length > sizeof to->bytes - 1 - to->length)
        length = sizeof to->bytes - 1 - to->length;
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
    to->bytes[to->length] = 0;
}

static void append_name(text *to, const GENERAL_NAME *name)
{
    char address[INET6_ADDRSTRLEN];
    const char *bytes = NULL;
    size_t length = 0;
    if (name->type == GEN_DNS) {
        bytes = (const char *)ASN1_STRING_get0_data(name->d.dNSName);
        length = (size_t)ASN1_STRING_length(name->d.dNSName);
    } else if (name->type == GEN_IPADD) {
        bytes = inet_ntop(ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6,
                          ASN1_STRING_get0_data(name->d.iPAddress), address, sizeof address);
        length = bytes ? strlen(bytes) : 0;
    }
    if (length && to->length)
        append(to, ", ", 2);
    append(to, bytes ? bytes : "", length);
}

/* Uses the whole subject if there is no common name. */
static void append_subject(text *to, X509 *certificate)
{
    X509_NAME *subject = X509_get_subject_name(certificate);
    char bytes[sizeof to->bytes];
    int length = X509_NAME_get_text_by_NID(subject, NID_commonName, bytes, sizeof bytes);
    if (length < 0)
        X509_NAME_oneline(subject, bytes, sizeof bytes);
    append(to, bytes, strlen(bytes));
}

/* The host names for which the certificate is valid. */
static text hosts_of(X509 *certificate)
{
    text hosts = {.length = 0};
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++)
        append_name(&hosts, sk_GENERAL_NAME_value(names, i));
    GENERAL_NAMES_free(names);
    if (!hosts.length)
        append_subject(&hosts, certificate);
    return hosts;
}

static void show_time(const ASN1_TIME *time, char shown[32])
{
    struct tm tm;
    if (!ASN1_TIME_to_tm(time, &tm) || !strftime(shown, 32, "%Y-%m-%d %H:%M:%S UTC", &tm))
        strcpy(shown, "an unknown time");
}

/* Names the failing certificate: the server's own, or one further up the chain. */
static text which(X509_STORE_CTX *checked, X509 *certificate)
{
    text shown = {.length = 0};
    if (X509_STORE_CTX_get_error_depth(checked) == 0) {
        append(&shown, "its certificate", strlen("its certificate"));
    } else {
        append(&shown, "the certificate of its CA, ", strlen("the certificate of its CA, "));
        append_subject(&shown, certificate);
        append(&shown, ",", 1);
    }
    return shown;
}

static void note_untrusted(rli_tls_trouble *trouble, X509 *certificate)
{
    char issuer[100] = "unknown";
    X509_NAME *name = X509_get_issuer_name(certificate);
    if (X509_NAME_get_text_by_NID(name, NID_commonName, issuer, sizeof issuer) < 0)
        X509_NAME_oneline(name, issuer, sizeof issuer);
    if (trouble->settings->truststore)
        note(
            trouble,
            "its certificate was issued by \"%.60s\", which is not a CA in the sslTruststore \"%.100s\"; add the certificate of that CA there",
            issuer, trouble->settings->truststore);
    else
        note(
            trouble,
            "its certificate was issued by \"%.60s\", which is not a CA that this system trusts; name the file with the certificate of that CA in sslTruststore",
            issuer);
}

static void note_certificate(rli_tls_trouble *trouble, X509_STORE_CTX *checked)
{
    int error = X509_STORE_CTX_get_error(checked);
    X509 *certificate = X509_STORE_CTX_get_current_cert(checked);
    char when[32];
    if (!certificate) {
        note(trouble, "its certificate cannot be checked: %s", X509_verify_cert_error_string(error));
        return;
    }
    switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        show_time(X509_get0_notAfter(certificate), when);
        note(trouble, "%s expired on %s; renew it on the server", which(checked, certificate).bytes, when);
        break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        show_time(X509_get0_notBefore(certificate), when);
        note(trouble, "%s is valid only from %s on; check the clocks of both machines",
             which(checked, certificate).bytes, when);
        break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        note_untrusted(trouble, certificate);
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        note(trouble,
             "its certificate is for %.100s, not for %.60s; use that name, or leave the host out of the check "
             "with sslVerificationMode=CA_ONLY",
             hosts_of(certificate).bytes, trouble->host);
        break;
    default:
        note(trouble, "%s cannot be trusted: %s", which(checked, certificate).bytes,
             X509_verify_cert_error_string(error));
    }
}

/* --- during the handshake --- */

static rli_tls_trouble *trouble_of(const SSL *ssl)
{
    return SSL_get_app_data(ssl);
}

static int verify(int preverified, X509_STORE_CTX *checked)
{
    const SSL *ssl = X509_STORE_CTX_get_ex_data(checked, SSL_get_ex_data_X509_STORE_CTX_idx());
    if (!preverified)
        note_certificate(trouble_of(ssl), checked);
    return preverified;
}

/* Called when the server asks for a certificate and none is configured. */
static int have_none(SSL *ssl, X509 **certificate, EVP_PKEY **key)
{
    (void)certificate;
    (void)key;
    trouble_of(ssl)->certificate_wanted = true;
    return 0;
}

void rli_tls_trouble_watch(SSL_CTX *shared, bool check)
{
    SSL_CTX_set_verify(shared, check ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, check ? verify : NULL);
    SSL_CTX_set_client_cert_cb(shared, have_none);
}

void rli_tls_trouble_attach(rli_tls_trouble *trouble, SSL *ssl)
{
    SSL_set_app_data(ssl, trouble);
}

/* --- errors --- */

static void note_certificate_wanted(rli_tls_trouble *trouble)
{
    note(trouble, "it requires a client certificate; name the file with the certificate and its key in sslKeystore");
}

/* Explains the alert that the server sent before it hung up. */
static void note_alert(rli_tls_trouble *trouble, int alert)
{
    const char *said = SSL_alert_desc_string_long(alert);
    bool about_certificates = (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_CERTIFICATE_UNKNOWN) ||
                              alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_ACCESS_DENIED;
    const char *keystore = trouble->settings->keystore;
    if (trouble->certificate_wanted &&
        (about_certificates || alert == SSL_AD_HANDSHAKE_FAILURE || alert == 116 /* certificate required */))
        note_certificate_wanted(trouble);
    else if (about_certificates && keystore)
        note(trouble, "it refuses the certificate in the sslKeystore \"%.100s\": %s", keystore, said);
    else if (alert == SSL_AD_PROTOCOL_VERSION)
        note(trouble, "it speaks none of the TLS versions of this client (sslProtocols: %.60s)",
             trouble->settings->protocols ? trouble->settings->protocols : "TLSv1.2,TLSv1.3");
    else if (alert == SSL_AD_HANDSHAKE_FAILURE)
        note(trouble,
             "it refuses the TLS versions and ciphers of this client; compare its ciphers with sslCiphers (%.60s)",
             trouble->settings->ciphers ? trouble->settings->ciphers : "OpenSSL's own choice");
    else
        note(trouble, "it refuses: %s", said);
}

void rli_tls_trouble_note(rli_tls_trouble *trouble)
{
    unsigned long error = ERR_peek_error();
    int reason = ERR_GET_REASON(error);
    if (ERR_GET_LIB(error) != ERR_LIB_SSL)
        reason = 0;
    if (reason > SSL_AD_REASON_OFFSET)
        note_alert(trouble, reason - SSL_AD_REASON_OFFSET);
    else if (reason == SSL_R_WRONG_VERSION_NUMBER)
        rli_tls_trouble_note_plain(trouble);
    else if (reason == SSL_R_UNSUPPORTED_PROTOCOL)
        note_alert(trouble, SSL_AD_PROTOCOL_VERSION);
    else if (error)
        note(trouble, "%.200s", ERR_reason_error_string(error) ? ERR_reason_error_string(error) : "unknown error");
}

void rli_tls_trouble_note_plain(rli_tls_trouble *trouble)
{
    note(trouble, "it does not speak TLS on that port; write redis:// instead of rediss://, or name its TLS port");
}
