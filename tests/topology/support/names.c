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

static atomic_int leads_to, asked;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char latest[256]; /* of the names of nodes */

void name_leads_to(int port)
{
    atomic_store(&leads_to, port);
}

int name_asked(void)
{
    return atomic_load(&asked);
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
    int64_t until_ms = now_ms() + ms;
    while (!is_latest(name) && now_ms() < until_ms)
        pass_ms(1);
    return is_latest(name);
}

static bool is_of_a_node(const char *name)
{
    size_t length = strlen(name), end = strlen(NAMES_OF_NODES);
    if (length < end || strcmp(name + length - end, NAMES_OF_NODES) != 0)
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
    if (!host || strcmp(host, NAME_OF_HOST) != 0)
        return next(host, service, hints, found);
    int port = atomic_load(&leads_to);
    atomic_fetch_add(&asked, 1);
    if (!port)
        return EAI_NONAME;
    int error = next("127.0.0.1", service, hints, found);
    for (struct addrinfo *one = error ? NULL : *found; one; one = one->ai_next)
        ((struct sockaddr_in *)(void *)one->ai_addr)->sin_port = htons((uint16_t)port);
    return error;
}
