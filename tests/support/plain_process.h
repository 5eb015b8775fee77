/* What surrounds each test of the plain runner, in its process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PLAIN_PROCESS_H
#define TEST_PLAIN_PROCESS_H

/* Before the suite's set-up. */
void plain_process_begin(void);

#endif
