/* Not found: a hold that was valid, and that a server does not have. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NOT_FOUND_H
#define RLI_NOT_FOUND_H

#include "engine/engine.h"

/* Notes that a server has nothing of the hold that the session's owner has just unlocked. It may be a former master
 * that has restarted without its data, while the present one has the hold. If its lease is long, it is released in the
 * background for a while. Not for a hold that is found lost otherwise: its owner may go on without looking, and nothing
 * gives it back before the owner asks for that. Mutex held. */
void rli_session_not_found(rli_engine *engine, rli_session *session);

#endif
