/* Names of hosts: getaddrinfo of the simulated system. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/names.h"

#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 16
#define ADDRESSES 4

static struct name {
    char text[64];
    struct in_addr addresses[ADDRESSES];
    int count;
    int64_t takes_ns;
} names[NAMES];

static struct name *find(const char *text)
{
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(names[i].text, text) == 0)
            return &names[i];
    }
    return NULL;
}

void name_means(const char *text, const char *const *addresses, int64_t takes_ns)
{
    struct name *own = find(text);
    if (!own && !(own = find("")))
        abort();
    snprintf(own->text, sizeof own->text, "%s", text);
    own->takes_ns = takes_ns;
    for (own->count = 0; addresses[own->count]; own->count++) {
        if (own->count == ADDRESSES || inet_pton(AF_INET, addresses[own->count], &own->addresses[own->count]) != 1)
            abort();
    }
}

static struct addrinfo *answer(const struct in_addr *addresses, int count, const char *port)
{
    struct addrinfo *first = NULL;
    for (int i = count - 1; i >= 0; i--) {
        struct {
            struct addrinfo info;
            struct sockaddr_in address;
        } *one = calloc(1, sizeof *one);
        if (!one)
            abort();
        one->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = addresses[i],
                                            .sin_port = htons((in_port_t)(port ? atoi(port) : 0))};
        one->info = (struct addrinfo){.ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
                                      .ai_addrlen = sizeof one->address,
                                      .ai_addr = (struct sockaddr *)(void *)&one->address, .ai_next = first};
        first = &one->info;
    }
    return first;
}

int os_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
    (void)hints;
    struct in_addr numeric;
    sim_point();
    if (inet_pton(AF_INET, host, &numeric) == 1) {
        *found = answer(&numeric, 1, port);
        return 0;
    }
    if (hints && hints->ai_flags & AI_NUMERICHOST)
        return EAI_NONAME;
    const struct name *own = find(host);
    if (own && own->takes_ns)
        thread_sleep(own, world_now_ns() + own->takes_ns, 0, "a name");
    if (!own || own->count == 0)
        return world_chance(2) ? EAI_NONAME : EAI_AGAIN;
    *found = answer(own->addresses, own->count, port);
    return 0;
}

void os_freeaddrinfo(struct addrinfo *found)
{
    while (found) {
        struct addrinfo *next = found->ai_next;
        free(found);
        found = next;
    }
}
