/* Non-reentrant lock, Redisson's RNonReentrantLock: a reentrant lock that its owner cannot take again. This process
 * checks that before it asks the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"

const rli_kind rli_kind_non_reentrant = {
    .name = "lock",
    .naming = {.what = "lock", .channel_prefix = RLI_LOCK_CHANNEL},
    .renew = &rli_script_lock_renew,
    .look = &rli_script_lock_look,
    .non_reentrant = true,
    .registers = true,
    .acquire = rli_reentrant_acquire,
    .release = rli_reentrant_release,
    .force = rli_reentrant_force,
    .state = rli_reentrant_state,
    .give_up = rli_reentrant_give_up,
    .parse_acquire = rli_reentrant_parse_acquire,
    .parse_release = rli_reentrant_parse_release,
    .parse_handoff = rli_reentrant_parse_handoff,
};
