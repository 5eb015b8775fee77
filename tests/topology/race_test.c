/* Races: of several addresses of one name, some of which are silent, the living one is found. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/port.h"
#include "tests/support/server.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/names.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOCK "order"
#define AT "redis://" NAME_OF_HOST ":6379?dnsMonitoringInterval=-1&"

static server *living;
static proxy *deaf; /* takes no connection, and refuses none */
static int closed;  /* where nobody listens */

static void open_all(void)
{
    living = server_start();
    deaf = proxy_start_port(living);
    proxy_deafen(deaf, true);
    closed = port_hold(0);
}

static void close_all(void)
{
    clients_close();
    close(closed);
    proxy_stop(deaf);
    server_stop(living);
}

TestSuite(race, .init = open_all, .fini = close_all);

static void assert_serves(const char *url)
{
    rlock *lock = lock_of(client_at("%s", url), LOCK);
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(living, "EXISTS " LOCK) == 1);
    assert_ok(rlock_unlock(lock));
}

static bool is_connecting(int fd)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == TCP_SYN_SENT;
}

/* How many sockets of this process wait for an answer to their first packet. */
static int connecting(void)
{
    DIR *fds = opendir("/proc/self/fd");
    int count = 0;
    cr_assert(fds != NULL);
    for (struct dirent *one; (one = readdir(fds));)
        count += *one->d_name != '.' && is_connecting(atoi(one->d_name));
    closedir(fds);
    return count;
}

/* The first of two is a machine that is gone. */
Test(race, is_won_by_a_living_address_behind_a_silent_one)
{
    name_leads_along((int[]){proxy_port(deaf), server_port(living)}, 2);
    assert_serves(AT "connectTimeout=60000");
    cr_assert(connecting() == 0, "%d sockets still connect", connecting());
}

/* More of them than are tried at a time. */
Test(race, is_won_by_a_living_address_behind_many_silent_ones)
{
    int ports[14];
    for (int i = 0; i < 13; i++)
        ports[i] = proxy_port(deaf);
    ports[13] = server_port(living);
    name_leads_along(ports, 14);
    assert_serves(AT "connectTimeout=60000");
    cr_assert(connecting() == 0, "%d sockets still connect", connecting());
}

Test(race, is_won_by_a_living_address_behind_one_that_refuses)
{
    name_leads_along((int[]){port_held(closed), server_port(living)}, 2);
    assert_serves(AT "connectTimeout=60000");
}

/* Each that refuses makes room for the next at once: with a head start for each of them, the time would be up. */
Test(race, is_won_by_a_living_address_behind_many_that_refuse)
{
    int ports[NAME_ADDRESSES];
    for (int i = 0; i < NAME_ADDRESSES - 1; i++)
        ports[i] = port_held(closed);
    ports[NAME_ADDRESSES - 1] = server_port(living);
    name_leads_along(ports, NAME_ADDRESSES);
    assert_serves(AT "connectTimeout=15000");
}

/* Among silent ones, a refusal is not the answer. */
Test(race, goes_on_when_one_address_refuses)
{
    name_leads_along((int[]){proxy_port(deaf), port_held(closed), proxy_port(deaf), server_port(living)}, 4);
    assert_serves(AT "connectTimeout=60000");
}

Test(race, that_nobody_wins_ends_with_the_connect_timeout)
{
    name_leads_along((int[]){proxy_port(deaf), proxy_port(deaf)}, 2);
    refused_at(AT "connectTimeout=600", RLOCK_UNAVAILABLE, NAME_OF_HOST, "does not answer", NULL);
    cr_assert(connecting() == 0, "%d sockets still connect", connecting());
}

Test(race, that_all_lose_says_why)
{
    name_leads_along((int[]){port_held(closed), port_held(closed)}, 2);
    refused_at(AT "connectTimeout=60000", RLOCK_UNAVAILABLE, NAME_OF_HOST, "refused", NULL);
}

static rlock_status open_and_close(void *url)
{
    rlock_client *client;
    rlock_status status = rlock_client_open(&client, url);
    if (status == RLOCK_OK)
        rlock_client_close(client);
    return status;
}

static const char *has_no_racers(child *self)
{
    (void)self;
    child_check(connecting() == 0);
    return NULL;
}

/* The child has no part in it: the server is to see the end of the parent's connection when the parent ends. */
Test(race, is_left_to_the_parent_by_a_forked_child)
{
    name_leads_along((int[]){proxy_port(deaf), proxy_port(deaf)}, 2);
    actor *opening = actor_start();
    actor_begin(opening, open_and_close, AT "connectTimeout=60000");
    int64_t until_ms = limit_end_ms(20000);
    while (connecting() < 2 && now_ms() < until_ms)
        sched_yield();
    in_child(has_no_racers);
    cr_assert(connecting() == 2, "the race was over before");
    proxy_deafen(deaf, false);
    assert_ok(actor_finish(opening, 20000));
    actor_end(opening);
}
