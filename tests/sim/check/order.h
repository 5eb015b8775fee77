/* Order: a fair lock is had by those who came first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "tests/sim/check/calls.h"

/* That acquire, which holds nothing before, was granted: nobody waits who had come before it. */
void order_check(const call *call);

/* A Redisson thread that was cancelled has kept its place in that lock's queue. Its next acquire lowers the timeouts of the
 * others by another wait than the one which its place was made with, and may have living waiters dropped as stale. The order
 * there is not judged any more. */
void order_forgo(int resource);

#endif
