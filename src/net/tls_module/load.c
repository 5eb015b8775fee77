/* TLS in librlock.so: the functions of net/tls.h and net/tls_context.h, which forward each call to the TLS module. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_module/module.h"

#include "base/error.h"
#include "net/tls_context.h"

#include <dlfcn.h>
#include <limits.h>
#include <rlock/version.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)
#define FILE_NAME     "librlock-tls.so." TEXT(RLOCK_VERSION_MAJOR)

/* NULL until the first client with TLS; never unloaded. No mutex guards the loading, because it would stay locked in a
 * child that is forked meanwhile; it is harmless if two threads load the module. */
static const rli_tls_module *_Atomic loaded;

static const rli_tls_library library = {.fail_as = rli_fail_text, .patience_poll = rli_patience_poll};

static const rli_tls_module *module(void)
{
    return atomic_load_explicit(&loaded, memory_order_acquire);
}

/* --- loading --- */

/* The module's path: beside the library, wherever that is. So it is found before it is installed, and under any
 * prefix. False: the path by which the library was loaded no longer exists, or is too long. */
static bool find(char path[PATH_MAX])
{
    Dl_info ours;
    if (!dladdr(&loaded, &ours) || !realpath(ours.dli_fname, path))
        return false;
    char *name = strrchr(path, '/') + 1;
    if (sizeof FILE_NAME > (size_t)(path + PATH_MAX - name))
        return false;
    memcpy(name, FILE_NAME, sizeof FILE_NAME);
    return true;
}

static rlock_status refuse(const char *path)
{
    const char *why = dlerror();
    size_t length = strlen(path);
    if (!why)
        why = "unknown error";
    else if (strncmp(why, path, length) == 0 && strncmp(why + length, ": ", 2) == 0)
        why += length + 2;
    return rli_fail(RLOCK_INVALID,
                    "TLS needs the module \"%.200s\", which cannot be loaded: %.200s; install all of rlock, "
                    "and OpenSSL",
                    path, why);
}

static rlock_status load(void)
{
    char path[PATH_MAX];
    if (module())
        return RLOCK_OK;
    if (!find(path))
        return rli_fail(
            RLOCK_INVALID,
            "TLS needs the module " FILE_NAME
            ", which is in the folder of the library, but that folder is unknown; load the library by an absolute path");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const rli_tls_module *found = handle ? dlsym(handle, "rlock_tls_module") : NULL;
    if (!found)
        return refuse(path);
    if (strcmp(found->version, RLOCK_VERSION) != 0)
        return rli_fail(RLOCK_INVALID,
                        "TLS needs the module \"%.200s\" of version " RLOCK_VERSION
                        ", but the file has version %.40s; install both from one release, then restart the program",
                        path, found->version);
    found->begin(&library);
    atomic_store_explicit(&loaded, found, memory_order_release);
    return RLOCK_OK;
}

/* --- forwarding: the module is loaded whenever a context or a stream exists --- */

rlock_status rli_tls_context_open(rli_tls *settings)
{
    if (!settings->on)
        return RLOCK_OK;
    rlock_status status = load();
    return status == RLOCK_OK ? module()->context_open(settings) : status;
}

void rli_tls_context_close(rli_tls *settings)
{
    if (settings->context)
        module()->context_close(settings);
}

rlock_status rli_tls_open(rli_tls_stream **stream, const rli_tls *settings, const rli_address *address, int fd,
                          const rli_patience *patience)
{
    return module()->open(stream, settings, address, fd, patience);
}

void rli_tls_close(rli_tls_stream *stream)
{
    if (stream)
        module()->close(stream);
}

ssize_t rli_tls_send(rli_tls_stream *stream, const char *bytes, size_t length)
{
    return module()->send(stream, bytes, length);
}

bool rli_tls_feed(rli_tls_stream *stream, redisReader *reader, char *bytes, size_t length, size_t size)
{
    return module()->feed(stream, reader, bytes, length, size);
}

rlock_status rli_tls_check(rli_tls_stream *stream, const rli_address *address)
{
    return module()->check(stream, address);
}
