/* A single lock: one name on one client, of one kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SINGLE_H
#define RLI_SINGLE_H

#include "engine/kind.h"

#include <rlock/lock.h>

/* A handle; NULL: rlock_last_error(). `back_off`, copied, is for kinds that spin. */
rlock *rli_single_make(rlock_client *client, const char *name, const rli_kind *kind, const rlock_back_off *back_off);

#endif
