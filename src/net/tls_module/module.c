/* The TLS module's side: its table of functions, and the library's functions that its code calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_module/module.h"

#include "base/error.h"
#include "net/tls_context.h"

#include <rlock/version.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static const rli_tls_library *_Atomic library;

static void begin(const rli_tls_library *ours)
{
    atomic_store(&library, ours);
}

const rli_tls_module rlock_tls_module = {
    .version = RLOCK_VERSION,
    .begin = begin,
    .context_open = rli_tls_context_open,
    .context_close = rli_tls_context_close,
    .open = rli_tls_open,
    .close = rli_tls_close,
    .send = rli_tls_send,
    .feed = rli_tls_feed,
    .check = rli_tls_check,
};

rlock_status rli_fail(rlock_status status, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return atomic_load(&library)->fail_as(status, message);
}

bool rli_patience_poll(const rli_patience *patience, int fd, short events)
{
    return atomic_load(&library)->patience_poll(patience, fd, events);
}
