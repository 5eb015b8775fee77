/* Releasing: one hold given back by its owner, or all of them by force. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RELEASE_H
#define RLI_RELEASE_H

#include "locks/kind.h"
#include "owner.h"

#include <rlock/client.h>
#include <stdbool.h>

/* As rlock_unlock. */
rlock_status rli_release_run(rlock_client *client, const rli_kind *kind, const rli_names *names,
                             const rli_owner *owner);

/* As rlock_force_unlock; was_locked may be NULL. */
rlock_status rli_release_force(rlock_client *client, const rli_kind *kind, const rli_names *names,
                               bool *was_locked);

#endif
