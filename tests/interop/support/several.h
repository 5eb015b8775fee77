/* The stage of several servers: clients of C and of Java on a cluster, on sentinels or on replicas, opened
 * with one configuration file, and the stage's server that of them which is looked at. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEVERAL_H
#define SEVERAL_H

#include "tests/integration/support/stage.h"
#include "tests/interop/support/java.h"
#include "tests/support/cluster.h"
#include "tests/support/sentinel.h"

/* One of them; the others are NULL. A test runs in a process of its own. */
struct several {
    cluster *cluster;
    sentinel *sentinel;
    fleet *fleet;
};
extern struct several several;

/* For .init: 3 masters with a replica each; a master, 2 replicas and 3 sentinels. stage.client and stage.other
 * are two processes of C. A call gives up after SEVERAL_PATIENCE_MS where each attempt times out, and after half
 * of that where nobody listens. A lock that is held outlasts a takeover, also where processes stand still now and
 * then; …_brief: what is waited for comes sooner where no takeover is. */
#define SEVERAL_TIMEOUT_MS 1000
#define SEVERAL_ATTEMPTS 20
#define SEVERAL_PATIENCE_MS (SEVERAL_TIMEOUT_MS * SEVERAL_ATTEMPTS)
void several_cluster(void);
void several_cluster_brief(void);
void several_sentinels(void);
/* A master and its replicas; the test opens the clients. */
void several_replicas(int replicas);
/* Opens both sides with the file. */
void several_open(const char *path);
/* For .fini: also closes parties, waiters and the handles of objects.h. */
void several_close(void);

/* Looks at the server that serves the name now. several_name: a name that `number` more or less names of the
 * same prefix have other masters than, where there are several; it is looked at. */
void several_look(const char *name);
const char *several_name(const char *prefix, int number);

#endif
