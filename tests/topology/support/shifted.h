/* Servers whose wall clock the test shifts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIFTED_H
#define SHIFTED_H

#include "tests/support/server.h"

typedef struct shifted {
    server *server; /* stopped by the test */
    volatile int64_t *shift_us;
} shifted;

/* Starts one; scratch_remove takes what it needs away. */
shifted shifted_start(void);
/* Shifts its clock by so much at once; the server has seen it on return. */
void shifted_by(const shifted *one, int64_t ms);

#endif
