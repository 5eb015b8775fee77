/* TLS: encrypts and decrypts between a connection and its socket. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls.h"

#include "base/error.h"
#include "net/tls_context.h"
#include "net/tls_trouble.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct rli_tls_stream {
    pthread_mutex_t mutex; /* guards all below */
    SSL *ssl;
    BIO *coming, *leaving; /* encrypted bytes from the socket, and for it; owned by `ssl` */
    int fd;
    /* bytes of a record that is encrypted but not completely sent; the caller will offer them again */
    size_t unsent_record;
    bool ended;
    rli_tls_trouble trouble;
};

/* At most one record is encrypted ahead. The server can decrypt nothing before it has the whole record, so a command
 * that counts as not sent has not run. */
#define PIECE SSL3_RT_MAX_PLAIN_LENGTH

/* --- creation --- */

/* Sets the host name to verify, and the one sent to the server so that it can choose its certificate. */
static bool name_host(SSL *ssl, const rli_tls *settings, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    char bare[256]; /* without a scope (fe80::1%eth0) and without a trailing dot */
    size_t length = strcspn(host, "%");
    if (length > 1 && host[length - 1] == '.')
        length--;
    if (length >= sizeof bare)
        return false;
    memcpy(bare, host, length);
    bare[length] = 0;
    bool is_address = inet_pton(AF_INET, bare, address) == 1 || inet_pton(AF_INET6, bare, address) == 1;
    if (!is_address && !SSL_set_tlsext_host_name(ssl, bare))
        return false;
    if (settings->verification != RLI_VERIFY_STRICT)
        return true;
    X509_VERIFY_PARAM *checked = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(checked, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return is_address ? X509_VERIFY_PARAM_set1_ip_asc(checked, bare) : X509_VERIFY_PARAM_set1_host(checked, bare, 0);
}

static rli_tls_stream *make(const rli_tls *settings, const rli_address *address, int fd)
{
    rli_tls_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    pthread_mutex_init(&stream->mutex, NULL);
    stream->fd = fd;
    stream->trouble = (rli_tls_trouble){.settings = settings, .host = address->host};
    stream->ssl = rli_tls_context_connect(settings);
    BIO *coming = BIO_new(BIO_s_mem()), *leaving = BIO_new(BIO_s_mem());
    if (!stream->ssl || !coming || !leaving) {
        BIO_free(coming);
        BIO_free(leaving);
        rli_tls_close(stream);
        return NULL;
    }
    SSL_set_bio(stream->ssl, coming, leaving);
    stream->coming = coming;
    stream->leaving = leaving;
    rli_tls_trouble_attach(&stream->trouble, stream->ssl);
    SSL_set_connect_state(stream->ssl);
    if (!name_host(stream->ssl, settings, address->host)) {
        rli_tls_close(stream);
        return NULL;
    }
    return stream;
}

void rli_tls_close(rli_tls_stream *stream)
{
    if (!stream)
        return;
    SSL_free(stream->ssl);
    pthread_mutex_destroy(&stream->mutex);
    free(stream);
}

/* --- between memory and socket; the mutex is held, except during the handshake --- */

static void forget(BIO *bio, size_t length)
{
    char dropped[4096];
    while (length > 0) {
        int n = BIO_read(bio, dropped, (int)(length < sizeof dropped ? length : sizeof dropped));
        if (n <= 0)
            return;
        length -= (size_t)n;
    }
}

/* Sends as many encrypted bytes as the socket takes without blocking. False: the connection has ended. */
static bool push(rli_tls_stream *stream)
{
    char *bytes;
    long length;
    while ((length = BIO_get_mem_data(stream->leaving, &bytes)) > 0) {
        ssize_t n = send(stream->fd, bytes, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            forget(stream->leaving, (size_t)n);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return true;
        else if (errno != EINTR)
            return false;
    }
    return true;
}

static bool all_left(const rli_tls_stream *stream)
{
    return BIO_ctrl_pending(stream->leaving) == 0;
}

/* --- handshake --- */

typedef enum step { GO_ON, CLOSED, IMPATIENT, REFUSED } step;

/* Whether the server's first bytes are not TLS: no handshake record begins with this byte. */
static bool is_plain(const rli_tls_stream *stream, const char *bytes)
{
    enum { ALERT = 0x15, HANDSHAKE = 0x16 };
    return SSL_get_state(stream->ssl) == TLS_ST_CW_CLNT_HELLO && *bytes != ALERT && *bytes != HANDSHAKE;
}

static step receive_more(rli_tls_stream *stream, const rli_patience *patience)
{
    char bytes[16384];
    ssize_t n;
    do {
        if (!rli_patience_poll(patience, stream->fd, POLLIN))
            return IMPATIENT;
        n = recv(stream->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    } while (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
    if (n <= 0)
        return CLOSED;
    if (is_plain(stream, bytes)) {
        rli_tls_trouble_note_plain(&stream->trouble);
        return REFUSED;
    }
    return BIO_write(stream->coming, bytes, (int)n) == (int)n ? GO_ON : CLOSED;
}

static step shake(rli_tls_stream *stream, const rli_patience *patience)
{
    for (;;) {
        ERR_clear_error();
        int done = SSL_do_handshake(stream->ssl);
        int error = done == 1 ? SSL_ERROR_NONE : SSL_get_error(stream->ssl, done);
        if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ) {
            rli_tls_trouble_note(&stream->trouble);
            push(stream); /* sends the alert that tells the server the reason */
            return REFUSED;
        }
        while (push(stream) && !all_left(stream)) {
            if (!rli_patience_poll(patience, stream->fd, POLLOUT))
                return IMPATIENT;
        }
        if (done == 1)
            return GO_ON;
        step more = receive_more(stream, patience);
        if (more != GO_ON)
            return more;
    }
}

static rlock_status unreachable(const rli_address *address, const char *why)
{
    return rli_fail(RLOCK_UNAVAILABLE, "could not connect to Redis at %s: %s", address->text, why);
}

static rlock_status outcome(rli_tls_stream *stream, const rli_address *address, step came_to)
{
    switch (came_to) {
    case GO_ON:
        return RLOCK_OK;
    case REFUSED:
        return rli_tls_check(stream, address);
    case IMPATIENT:
        return unreachable(address, "it did not finish the TLS handshake in time; if that port is a plain one, write "
                                    "redis:// instead of rediss://");
    case CLOSED:
        break;
    }
    return unreachable(address, stream->trouble.certificate_wanted
                                    ? "it closed the connection during the TLS handshake, after it had asked for a "
                                      "certificate; name one in sslKeystore"
                                    : "it closed the connection during the TLS handshake");
}

rlock_status rli_tls_open(rli_tls_stream **out, const rli_tls *settings, const rli_address *address, int fd,
                          const rli_patience *patience)
{
    rli_tls_stream *stream = make(settings, address, fd);
    if (!stream)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a TLS connection");
    rlock_status status = outcome(stream, address, shake(stream, patience));
    ERR_clear_error();
    if (status != RLOCK_OK)
        rli_tls_close(stream);
    else
        *out = stream;
    return status;
}

rlock_status rli_tls_check(rli_tls_stream *stream, const rli_address *address)
{
    pthread_mutex_lock(&stream->mutex);
    rlock_status status = RLOCK_OK;
    if (*stream->trouble.why)
        status = rli_fail(RLOCK_SERVER, "could not set up TLS with Redis at %s: %s", address->text,
                          stream->trouble.why);
    pthread_mutex_unlock(&stream->mutex);
    return status;
}

/* --- after the handshake --- */

/* Ends the connection, and wakes every thread that polls or blocks on the socket. */
static void end(rli_tls_stream *stream)
{
    stream->ended = true;
    shutdown(stream->fd, SHUT_RDWR);
}

static bool encrypt(rli_tls_stream *stream, const char *bytes, size_t length)
{
    ERR_clear_error();
    if (SSL_write(stream->ssl, bytes, (int)length) != (int)length) {
        rli_tls_trouble_note(&stream->trouble);
        return false;
    }
    stream->unsent_record = length;
    return true;
}

ssize_t rli_tls_send(rli_tls_stream *stream, const char *bytes, size_t length)
{
    size_t sent = 0;
    pthread_mutex_lock(&stream->mutex);
    bool alive = !stream->ended && push(stream);
    while (alive && all_left(stream)) {
        sent += stream->unsent_record;
        stream->unsent_record = 0;
        if (sent >= length)
            break;
        size_t rest = length - sent;
        alive = encrypt(stream, bytes + sent, rest < PIECE ? rest : PIECE) && push(stream);
    }
    pthread_mutex_unlock(&stream->mutex);
    return alive ? (ssize_t)sent : -1;
}

bool rli_tls_feed(rli_tls_stream *stream, redisReader *reader, char *bytes, size_t length, size_t size)
{
    pthread_mutex_lock(&stream->mutex);
    bool fed = false,
         alive = !stream->ended && (length == 0 || BIO_write(stream->coming, bytes, (int)length) == (int)length);
    while (alive) {
        ERR_clear_error();
        int n = SSL_read(stream->ssl, bytes, (int)size);
        if (n <= 0) {
            int error = SSL_get_error(stream->ssl, n);
            alive = error == SSL_ERROR_WANT_READ;
            if (error == SSL_ERROR_SSL)
                rli_tls_trouble_note(&stream->trouble);
            break;
        }
        fed = true;
        alive = redisReaderFeed(reader, bytes, (size_t)n) == REDIS_OK;
    }
    push(stream); /* TLS's own answers, such as key updates and alerts */
    if (!alive)
        end(stream);
    pthread_mutex_unlock(&stream->mutex);
    return alive || fed;
}
