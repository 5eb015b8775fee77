/* Order: a fair lock is had by those who came first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "tests/sim/check/calls.h"

/* That acquire, which holds nothing before, was granted: nobody waits who had come before it. */
void order_check(const call *call);

#endif
