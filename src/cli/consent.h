/* The warning before a load is put on a server that others may use. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CONSENT_H
#define CLI_CONSENT_H

#include <stdbool.h>

/* Says what is about to be done, and has somebody at the terminal agree, unless `agreed` says that it was
 * done on the command line. The exit status; EXIT_DONE: go on. */
int consent_get(const char *warning, bool agreed);

#endif
