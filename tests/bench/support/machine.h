/* The machine that the figures are made on, and the version of what they are made of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

int machine_cores(void);
/* Texts; empty: not known. */
void machine_cpu(char text[256]);
void machine_commit(char text[256]);

#endif
