/* A server's disk that is full. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DISK_H
#define DISK_H

#include "tests/support/server.h"

/* From now on it refuses writes with MISCONF, as after its disk has become full; until disk_mend(). */
void disk_spoil(server *of);
void disk_mend(server *of);

#endif
