/* Counted: permits of plain semaphores, as their takers believe in them, and the counts of latches. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_COUNTED_H
#define SIM_COUNTED_H

#include <rlock/status.h>
#include <stdint.h>

/* So many are made, or may be; fewer than 0: so many were not. */
void counted_make(int resource, int count);
/* An acquire of so many begins; fewer than 0: it has ended, after counted_take. */
void counted_want(int resource, int count);
/* Somebody has so many more: together they may not have more than were ever made. */
void counted_take(int resource, int count, const char *who);
/* They are being given back. */
void counted_give(int resource, int count);

/* What a call that was to change the number available by so many has answered. */
void counted_change(int resource, int by, rlock_status status);
void counted_drained(int resource, int count, rlock_status status);

/* It was closed with that count, or may have been. */
void latch_is_set(int resource, int count, rlock_status status);
void latch_goes_down(int resource);
void latch_went_down(int resource, int64_t began_ns, rlock_status status);
/* Who began to wait for it at that instant was told that it is open. */
void latch_is_open(int resource, int64_t began_ns, const char *who);

/* All is over: the number that the server has must be one that these calls can have led to. */
void counted_check(int resource, int64_t have);
void latch_check(int resource, int64_t count);

#endif
