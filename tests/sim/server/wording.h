/* How servers name themselves in what they say. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_WORDING_H
#define SIM_SERVER_WORDING_H

#include "tests/sim/server/parts.h"

const char *product_of(const sim_server *server); /* "Redis" */

/* Why a script's redis.call is not a command that may run. */
typedef enum script_refusal {
    REFUSAL_NO_WORDS,
    REFUSAL_NO_TEXT, /* one of its words is neither text nor number */
    REFUSAL_UNKNOWN,
    REFUSAL_ARITY,
    REFUSAL_FORBIDDEN
} script_refusal;
const char *script_refusal_of(const sim_server *server, script_refusal what);

#endif
