/* A word: bytes of somebody else's, without an end of their own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_WORD_H
#define SIM_SERVER_WORD_H

#include <stddef.h>

typedef struct sim_word {
    const char *at; /* never NULL */
    size_t length;
} sim_word;

#endif
