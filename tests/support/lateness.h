/* Lateness: how late this machine was for a thread that only wanted to wake. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_LATENESS_H
#define TEST_LATENESS_H

#include <stdint.h>

/* From now on, a thread of this process wakes every few milliseconds and notes how late it was. */
void lateness_watch(void);
/* The most that it was late since; 0 when nobody watched. ms. */
int64_t lateness_ms(void);

#endif
