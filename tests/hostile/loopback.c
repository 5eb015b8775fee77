/* The world of the hostile tests. A distorted answer may name any address: nobody else's server is to be met there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/loopback.h"

#include "tests/support/port.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef int resolver(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static hostile_ports known;
static int nobodys; /* a port that is held, and at which nothing listens */

void loopback_leads_to(const hostile_ports *ports)
{
    known = *ports;
    if (!nobodys)
        nobodys = port_held(port_hold(0));
}

static bool is_known(int port)
{
    for (int i = 0; i < HOSTILE_PORTS; i++) {
        if (known.all[i] == port)
            return true;
    }
    return false;
}

/* Stands before the C library's, since the library is linked into this program. */
int getaddrinfo(const char *restrict host, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict found)
{
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    resolver *next;
    memcpy(&next, &symbol, sizeof next);
    if (!host || (strcmp(host, "127.0.0.1") != 0 && strcmp(host, "localhost") != 0))
        return EAI_NONAME;
    int error = next("127.0.0.1", service, hints, found);
    for (struct addrinfo *one = error ? NULL : *found; one; one = one->ai_next) {
        struct sockaddr_in *address = (struct sockaddr_in *)(void *)one->ai_addr;
        if (!is_known(ntohs(address->sin_port)))
            address->sin_port = htons((uint16_t)nobodys);
    }
    return error;
}
