/* Replicas: what a master of the simulated world writes reaches those that follow it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTUAL_REPLICAS_H
#define VIRTUAL_REPLICAS_H

#include "tests/sim/world/network.h"

/* From now on that host is looked after, as a master and as a replica. */
void replicas_watch(host *of);
/* It has been ended, which has a server: its replicas hear no more of it, nor does its master. */
void replicas_lose(host *of);

#endif
