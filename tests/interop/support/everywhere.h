/* Everywhere: what holds between C and Java on every stage of several servers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EVERYWHERE_H
#define EVERYWHERE_H

/* Locks, fair locks and read-write locks: who holds one keeps the other side out, and wakes it by a message. */
void everywhere_locks(void);
/* Semaphores, permits and latches: the waiters of each side are woken by the other. */
void everywhere_objects(void);
/* The keys that C leaves are those of Java and of the notes, and so are its messages, which are sharded ones
 * in a cluster. */
void everywhere_keys(void);

#endif
