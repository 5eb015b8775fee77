/* Consent: the warning before load is put on a server that others may use. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CONSENT_H
#define CLI_CONSENT_H

#include <stdbool.h>

/* Prints `warning` and asks the user at the terminal to agree, unless `agreed` says that the command line did
 * so. Returns EXIT_DONE: go on; otherwise the exit status. */
int consent_get(const char *warning, bool agreed);

#endif
