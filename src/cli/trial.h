/* Trial: takes and frees locks, to see whether the user has all rights that locks need. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include "cli/checks.h"

#include <rlock/cancel.h>
#include <rlock/client.h>

/* Tries each kind, and prints what was found. The names of the locks begin with `name`; NULL: with "rlock:doctor:". The
 * token ends it; what it has taken is given back. */
void trial_run(cli_findings *findings, rlock_client *client, const char *name, rlock_cancel *cancel);

#endif
