/* Starting a program beside the test, without what sanitizers and valgrind want of the test alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include <sys/types.h>

typedef enum program_fate {
    PROGRAM_DIES_WITH_US, /* killed when the test's process ends, however it ends */
    PROGRAM_OUTLIVES_US   /* and the signals that end a test do not end it */
} program_fate;

/* Starts argv[0], looked for in PATH, with `in` as its input and `out` as both its outputs; no other
 * descriptor is open in it, no signal blocked. Its process is the caller's to wait for. Fails the test
 * when there can be no process; a program that is not there ends with status 127. */
pid_t program_start(char *const *argv, int in, int out, program_fate fate);

#endif
