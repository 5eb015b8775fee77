/* Counted: permits of plain semaphores, as their takers believe in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_COUNTED_H
#define SIM_COUNTED_H

/* So many are made, or may be; fewer than 0: so many were not. */
void counted_make(int resource, int count);
/* Somebody has so many more: together they may not have more than were ever made. */
void counted_take(int resource, int count, const char *who);
/* They are being given back. */
void counted_give(int resource, int count);

#endif
