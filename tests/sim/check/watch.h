/* Watching: while a run goes on, every waiter that could have what it waits for gets it, and nothing is held by nobody. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

/* Looks now and then, until the run ends. */
void watch_begin(void);
/* The client was told that a hold of it is gone. */
void watch_told_gone(int client, int resource);
/* This is a forked child from now on. */
void watch_in_child(void);

#endif
