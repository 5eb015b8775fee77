/* The TLS module: src/redis/tls*.c and with it OpenSSL, which takes a process as long to load as all else until its
 * first lock. So librlock.so has it in a file of its own, and loads that for the first client that asks for TLS
 * (load.c); librlock.a has it all. This is what the two have of each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_MODULE_H
#define RLI_TLS_MODULE_H

#include "net/tls.h"

/* What the module has of the library. */
typedef struct rli_tls_library {
    rlock_status (*fail_as)(rlock_status status, const char *message);
    bool (*patience_poll)(const rli_patience *patience, int fd, short events);
} rli_tls_library;

/* What the library has of the module: the functions of redis/tls.h and redis/tls_context.h. */
typedef struct rli_tls_module {
    const char *version; /* RLOCK_VERSION: all else is as it stands here only if that is the same; first for ever */
    void (*begin)(const rli_tls_library *library); /* before all others; may be called again */
    rlock_status (*context_open)(rli_tls *settings);
    void (*context_close)(rli_tls *settings);
    rlock_status (*open)(rli_tls_stream **stream, const rli_tls *settings, const rli_address *address, int fd,
                         const rli_patience *patience);
    void (*close)(rli_tls_stream *stream);
    ssize_t (*send)(rli_tls_stream *stream, const char *bytes, size_t length);
    bool (*feed)(rli_tls_stream *stream, redisReader *reader, char *bytes, size_t length, size_t size);
    rlock_status (*check)(rli_tls_stream *stream, const rli_address *address);
} rli_tls_module;

/* The one name that the module shows. */
extern RLOCK_API const rli_tls_module rlock_tls_module;

#endif
