/* Flights: batches of renewals that are under way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/flight.h"

#include "base/clock.h"
#include "base/list.h"

#include <stdlib.h>
#include <time.h>

/* So much is under way to one server at once. What it has read of us it answers before it turns to another client, whose
 * answer then leaves with those to what it has read of us meanwhile: another waits for twice this, at 2 to 3 us a name. */
#define MOST_FLIGHTS 32
#define MOST_NAMES 100
#define MOST_NAMES_LATE 800

bool rli_flight_is_full(const rli_node *node, bool late)
{
    return node->renewals.flights >= MOST_FLIGHTS || node->renewals.names >= (late ? MOST_NAMES_LATE : MOST_NAMES);
}

/* Told by whoever reads the answer. */
static void come_back(rli_slot *slot)
{
    rli_flight *flight = (rli_flight *)(void *)slot;
    rli_flights *flights = &flight->watchdog->flights;
    flight->landed = atomic_load(&flights->landed);
    while (!atomic_compare_exchange_weak(&flights->landed, &flight->landed, flight))
        continue;
}

static void depart(rli_flights *flights, rli_flight *flight)
{
    rli_renewals *there = &flight->node->renewals;
    if (there->flights++ == 0)
        there->heard_ms = flight->sent_ms;
    there->names += flight->count;
    RLI_QUEUE_APPEND(flights, flight);
}

static void arrive(rli_flights *flights, const rli_flight *flight)
{
    rli_renewals *there = &flight->node->renewals;
    there->flights--;
    there->names -= flight->count;
    there->heard_ms = rli_now_ms();
    RLI_QUEUE_REMOVE(flights, flight);
}

bool rli_flight_send(rli_flight *flight, rli_call *call)
{
    uint64_t run;
    flight->slot.done = come_back;
    flight->sent_ms = rli_now_ms();
    depart(&flight->watchdog->flights, flight);
    if (!call->no_memory && rli_call_post(call, flight->watchdog->engine->topology, &flight->node->background,
                                           &flight->slot, &run))
        return true;
    arrive(&flight->watchdog->flights, flight);
    return false;
}

rli_flight *rli_flight_land(rli_watchdog *watchdog)
{
    rli_flights *flights = &watchdog->flights;
    if (!flights->back)
        flights->back = atomic_exchange(&flights->landed, NULL);
    rli_flight *flight = flights->back;
    if (flight) {
        flights->back = flight->landed;
        arrive(flights, flight);
    }
    return flight;
}

/* --- waiting --- */

/* So long it waits for answers before it looks what else there is to do; for one of several servers; and, when nothing
 * is to be read, before it looks again. */
#define LOOK_MS 20
#define TURN_MS 1
#define PAUSE_MS 2

static int servers(rli_topology *topology)
{
    int count = 0;
    for (const rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));)
        count += node->renewals.flights > 0;
    return count;
}

/* One that has been silent for a while is looked at, but not waited for, beside others. */
static void read_all(rli_topology *topology, int64_t until_ms)
{
    bool alone = servers(topology) == 1;
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));) {
        int64_t now_ms = rli_now_ms();
        bool silent = now_ms > node->renewals.heard_ms + LOOK_MS;
        int64_t turn_ms = rli_earlier(until_ms, now_ms + TURN_MS);
        if (node->renewals.flights > 0)
            rli_lane_collect(&node->background, alone ? until_ms : silent ? now_ms : turn_ms);
    }
}

void rli_flight_await(rli_watchdog *watchdog, int64_t until_ms)
{
    rli_flights *flights = &watchdog->flights;
    until_ms = rli_earlier(until_ms, rli_after_ms(LOOK_MS));
    read_all(watchdog->engine->topology, until_ms);
    /* They are silent, or another thread reads there. */
    if (!atomic_load(&flights->landed) && rli_now_ms() < until_ms)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
}

void rli_flight_give_up(rli_watchdog *watchdog, int64_t since_ms)
{
    for (const rli_flight *flight = watchdog->flights.first; flight && flight->sent_ms <= since_ms; flight = flight->next)
        rli_lane_condemn(&flight->node->background);
}

void rli_flights_destroy(rli_flights *flights)
{
    for (rli_flight *flight = flights->first, *next; flight; flight = next) {
        next = flight->next;
        if (flight->slot.reply)
            freeReplyObject(flight->slot.reply);
        free(flight);
    }
}
