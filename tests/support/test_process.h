/* What surrounds each test in its process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PROCESS_H
#define TEST_PROCESS_H

/* Before the suite's set-up. */
void test_process_begin(void);

#endif
