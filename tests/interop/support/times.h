/* Times: what a test of both sides gives a wait, and what it takes for soon. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMES_H
#define TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* A message does it in a few ms, a TTL or a patience not before 10 s; between them is room for a busy machine. */
#define BY_MESSAGE_MS 5000
/* Behind the end of a wait or a TTL, at most; for at_most_ms. */
#define LATE_MS 700
/* Of what only has to last: longer than any machine stands still. */
#define LASTING_MS 20000

/* A wait that is to come to nothing. Redisson that has no subscription yet when its time is up never ends the one that
 * comes then. */
static inline int64_t vain_wait_ms(bool in_java)
{
    return in_java ? 2000 : 400;
}

#endif
