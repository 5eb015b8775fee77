/* Checked: what must be true whatever the program and the servers do. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CHECKED_H
#define RLI_CHECKED_H

#include <stdlib.h>

/* Test builds (SAN=… and the simulation) abort when it is not: a defect of the library. Others do not evaluate it. */
#ifdef RLI_CHECKED
#define rli_check(condition) ((condition) ? (void)0 : abort())
#else
#define rli_check(condition) ((void)(0 && (condition)))
#endif

#endif
