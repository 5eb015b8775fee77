/* A worker's handles on locks, made when they are first asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_LOCK_OF_H
#define SIM_LOCK_OF_H

#include "tests/sim/program/run.h"

/* For the thread itself (0), or a named owner. NULL: out of memory, or the client is closed. */
rlock *worker_lock(worker *worker, int object, int number);

#endif
