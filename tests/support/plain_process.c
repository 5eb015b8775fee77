/* What surrounds each test of the plain runner, in its process: nothing, as it runs in the real world. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/plain_process.h"

void plain_process_begin(void)
{
}
