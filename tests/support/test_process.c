/* What surrounds each test in its process: nothing, as it runs in the real world. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/test_process.h"

void test_process_begin(void)
{
}
