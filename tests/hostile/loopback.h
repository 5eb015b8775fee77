/* The world of the hostile tests: addresses that lead to the hostile server, and none that leads anywhere else. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_LOOPBACK_H
#define HOSTILE_LOOPBACK_H

#include "tests/hostile/support/values.h"

/* From now on, every other address is one at which nobody listens, or an unknown one. */
void loopback_leads_to(const hostile_ports *ports);

#endif
