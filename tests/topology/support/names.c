/* Names of hosts that lead where the test says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/topology/support/names.h"

#include "tests/support/event.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef int resolver(const char *, const char *, const struct addrinfo *, struct addrinfo **);

/* Plain numbers, looked at again and again: a child that is forked while somebody waits goes on with them. */
static atomic_int leads_to[NAME_ADDRESSES], asked;
static atomic_bool stalled;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char latest[256]; /* of the names of nodes */

void name_leads_along(const int *ports, size_t count)
{
    for (size_t i = 0; i < NAME_ADDRESSES; i++)
        atomic_store(&leads_to[i], i < count ? ports[i] : 0);
}

void name_leads_to(int port)
{
    name_leads_along(&port, 1);
}

int name_asked(void)
{
    return atomic_load(&asked);
}

bool name_await_asked(int count, int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms); name_asked() < count; pass_ms(1)) {
        if (now_ms() >= end_ms)
            return false;
    }
    return true;
}

void name_stall(bool stalls)
{
    atomic_store(&stalled, stalls);
}

/* 127.0.0.1 at that port. */
static int resolve(resolver *next, const char *service, const struct addrinfo *hints, int port, struct addrinfo **found)
{
    int error = next("127.0.0.1", service, hints, found);
    for (struct addrinfo *one = error ? NULL : *found; one; one = one->ai_next)
        ((struct sockaddr_in *)(void *)one->ai_addr)->sin_port = htons((uint16_t)port);
    return error;
}

/* The C library frees each address of a list by itself, so those of several lists may become one. */
static int resolve_all(resolver *next, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int error = EAI_NONAME;
    *found = NULL;
    for (int i = 0, port; i < NAME_ADDRESSES && (port = atomic_load(&leads_to[i])); i++) {
        error = resolve(next, service, hints, port, found);
        while (!error && *found)
            found = &(*found)->ai_next;
        if (error)
            break;
    }
    return error;
}

static bool ends_in(const char *host, const char *end)
{
    size_t length = strlen(host), rest = strlen(end);
    return length > rest && strcmp(host + length - rest, end) == 0;
}

static bool is_latest(const char *name)
{
    pthread_mutex_lock(&mutex);
    bool is = strcmp(latest, name) == 0;
    pthread_mutex_unlock(&mutex);
    return is;
}

bool name_await(const char *name, int64_t ms)
{
    int64_t until_ms = limit_end_ms(ms);
    while (!is_latest(name) && now_ms() < until_ms)
        pass_ms(1);
    return is_latest(name);
}

static bool is_of_a_node(const char *name)
{
    if (!ends_in(name, NAMES_OF_NODES))
        return false;
    pthread_mutex_lock(&mutex);
    snprintf(latest, sizeof latest, "%s", name);
    pthread_mutex_unlock(&mutex);
    return true;
}

/* Stands before the C library's, since the library is linked into this program. */
int getaddrinfo(const char *restrict host, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict found)
{
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    resolver *next;
    memcpy(&next, &symbol, sizeof next);
    if (host && is_of_a_node(host))
        return next("127.0.0.1", service, hints, found);
    if (!host || !ends_in(host, NAMES_END))
        return next(host, service, hints, found);
    atomic_fetch_add(&asked, 1);
    while (atomic_load(&stalled))
        pass_ms(1);
    return resolve_all(next, service, hints, found);
}
