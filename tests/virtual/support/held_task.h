/* Threads of the library that are kept from running, so that a test decides what happens meanwhile. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELD_TASK_H
#define HELD_TASK_H

typedef struct thread held_task;

/* The only thread that has this name does not run from now on. Fails the test when there is none. */
held_task *task_hold(const char *name);
void task_let_go(held_task *task);

#endif
