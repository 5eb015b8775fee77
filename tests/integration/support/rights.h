/* Rights: what docs/security.md tells to allow a user, taken from that page as it stands. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RIGHTS_H
#define RIGHTS_H

#include "tests/support/server.h"

#include <stdbool.h>

/* The commands of the page, by how they begin. */
#define RIGHTS "redis-cli ACL SETUSER locks reset"                      /* of user locks, password secret */
#define RIGHTS_FOR_BRACES "redis-cli ACL SETUSER locks \\"              /* more, for names that have braces */
#define RIGHTS_FOR_REPLICAS "redis-cli ACL SETUSER locks '+info|repl"   /* more, on masters and replicas */
#define RIGHTS_FOR_CLUSTERS "redis-cli ACL SETUSER locks '+cluster"     /* more, on nodes of a cluster */
#define RIGHTS_FOR_SHARDS "redis-cli ACL SETUSER locks +ssub"           /* more there, from Redis 7.0 on */
#define RIGHTS_FOR_SENTINELS "redis-cli -p 26379 ACL SETUSER watcher"   /* of user watcher, password secret */
#define RIGHTS_PREFIX "app:"                                            /* of the names they are for */

/* Runs it for the server, as an operator would. */
void rights_give(server *server, const char *rights);

/* The same without its n-th pattern of keys or channels, counted from 0, which is then in `left_out`; false: it has
 * not so many. */
bool rights_give_without(server *server, const char *rights, int n, char left_out[64]);

/* The rights to commands in it, each as " +name " between single spaces; to be freed. */
char *rights_to_commands(const char *rights);

/* Fails the test if the server has refused anything to a user since it was started. */
void assert_nothing_refused(server *server);

#endif
