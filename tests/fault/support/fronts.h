/* A fault proxy before each server of a fleet, a cluster, or a set of sentinels. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_FRONTS_H
#define FAULT_FRONTS_H

#include "tests/fault/support/proxy.h"

/* From now on every server that is started, by cluster_start, sentinel_start or whatever, stands behind
 * a proxy of its own, on a port, which is the one that servers tell clients, and each other, and that
 * is in the fixtures' URLs and files. Before the test has threads: proxies are forked.
 *
 * So sentinels, and replicas that greet their master, come through the proxies as well, and rules may
 * see their requests: tell a rule's text from theirs. Only the stream of replication itself, and the
 * cluster's bus, pass by what the test does. A node that was killed is behind a proxy that still
 * listens: who connects is hung up on, unless proxy_accept says no. */
void fronts_begin(void);
/* Stops all these proxies; servers are started without any again. After the clients are closed. */
void fronts_end(void);

proxy *front_of(const server *server);

#define FRONTS 64 /* servers of a test */

/* The same rule before all of them; fronts_release takes it down again. Their numbers differ: the
 * counts are the sums. */
typedef struct fronts_rule {
    int rules[FRONTS];
} fronts_rule;
fronts_rule fronts_add(const proxy_rule *rule);
void fronts_release(const fronts_rule *rule);
int fronts_count(const fronts_rule *rule, proxy_count_of what);

#endif
