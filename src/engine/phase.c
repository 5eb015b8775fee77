/* Phase: the transitions of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/phase.h"

static const bool legal[RLI_PHASES][RLI_PHASES] = {
    [RLI_OPEN] = {[RLI_DONE] = true,
                  [RLI_LEAVING] = true,
                  [RLI_OFFERED] = true,
                  [RLI_OVER] = true,
                  [RLI_COMPENSATING] = true}, /* the last: a call gave up, and its request may have taken the lock */
    [RLI_DONE] = {[RLI_COMPENSATING] = true, [RLI_OVER] = true}, /* the latter: its async release came too late */
    [RLI_LEAVING] = {[RLI_DONE] = true},
    [RLI_OFFERED] = {[RLI_OPEN] = true, [RLI_DONE] = true, [RLI_OVER] = true},
    [RLI_OVER] = {[RLI_DONE] = true},         /* its owner has been told of each hold */
    [RLI_COMPENSATING] = {[RLI_OVER] = true}, /* its async release was repeated, and found nothing */
};

bool rli_phase_may_become(rli_phase from, rli_phase to)
{
    return legal[from][to];
}
