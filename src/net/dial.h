/* Dialling: a connected socket to the server, or the reason why there is none. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DIAL_H
#define RLI_DIAL_H

#include "config/settings.h"
#include "net/patience.h"

/* Resolves the host name and tries all of its addresses. Returns a socket that is blocking, closed on exec, tuned by
 * the tcp… settings and tracked (base/forked.h): close it with rli_fd_close. -1: *why has the reason, in static text
 * or from strerror. */
int rli_dial(const rli_settings *settings, const rli_address *address, const rli_patience *patience, const char **why);

#endif
