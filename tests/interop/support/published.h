/* Published: the instant at which the server published a message, on the clock of the test. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PUBLISHED_H
#define PUBLISHED_H

#include "tests/integration/support/traffic.h"

/* When the first message that the monitor has not yet forgotten was published: CLOCK_MONOTONIC,
 * ns. Fails the test when there was none. */
int64_t first_published_ns(monitor *monitor);

#endif
