/* Single lock: the handle for one name, of one client and one kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SINGLE_H
#define RLI_SINGLE_H

#include "engine/kind.h"

#include <rlock/lock.h>

/* Makes a handle. `back_off` is copied; it is used by spin locks; NULL: the default. NULL: rlock_last_error()
 * says why. */
rlock *rli_single_make(rlock_client *client, const char *name, const rli_kind *kind, const rlock_back_off *back_off);

#endif
