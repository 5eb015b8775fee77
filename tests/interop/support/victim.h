/* A victim: a C process that holds a lock, or waits for it, until it is killed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VICTIM_H
#define VICTIM_H

#include "tests/interop/support/kind.h"

typedef struct victim victim;

/* Starts it and waits until it holds `name`, renewed by a watchdog of QUICK_MS; victim_waiting:
 * until it waits for it, which somebody else holds. */
victim *victim_holding(const lock_kind *kind, const char *name);
victim *victim_waiting(const lock_kind *kind, const char *name);
/* SIGKILL; the server has read the last that it sent. */
void victim_kill(victim *victim);

#endif
