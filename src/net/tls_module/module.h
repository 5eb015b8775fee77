/* The TLS module: the interface between librlock.so and the file with src/net/tls*.c and OpenSSL.
 *
 * Loading OpenSSL takes a process as long as everything else up to its first lock. Therefore librlock.so has TLS in a
 * separate file, which it loads for the first client that asks for TLS (load.c). librlock.a contains it all. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_MODULE_H
#define RLI_TLS_MODULE_H

#include "net/tls.h"

/* The functions of the library that the module uses. */
typedef struct rli_tls_library {
    rlock_status (*fail_as)(rlock_status status, const char *message);
    bool (*patience_poll)(const rli_patience *patience, int fd, short events);
} rli_tls_library;

/* The functions of the module that the library uses: those of net/tls.h and net/tls_context.h. */
typedef struct rli_tls_module {
    /* RLOCK_VERSION. The rest of the table has this layout only if the versions are equal, so this field must always
     * stay the first. */
    const char *version;
    void (*begin)(const rli_tls_library *library); /* call before all others; may be called again */
    rlock_status (*context_open)(rli_tls *settings);
    void (*context_close)(rli_tls *settings);
    rlock_status (*open)(rli_tls_stream **stream, const rli_tls *settings, const rli_address *address, int fd,
                         const rli_patience *patience);
    void (*close)(rli_tls_stream *stream);
    ssize_t (*send)(rli_tls_stream *stream, const char *bytes, size_t length);
    bool (*feed)(rli_tls_stream *stream, redisReader *reader, char *bytes, size_t length, size_t size);
    rlock_status (*check)(rli_tls_stream *stream, const rli_address *address);
} rli_tls_module;

/* The only symbol that the module exports. */
extern RLOCK_API const rli_tls_module rlock_tls_module;

#endif
