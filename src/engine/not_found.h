/* Not found: a hold that was valid, and that a server does not have. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_NOT_FOUND_H
#define RLI_NOT_FOUND_H

#include "engine/engine.h"

/* Notes that a server has nothing of the session's holds. It may be a former master that has restarted without its
 * data, while the present one has them. If their lease is long, they are released in the background for a while. Mutex
 * held. */
void rli_session_not_found(rli_engine *engine, rli_session *session);

#endif
