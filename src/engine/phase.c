/* Phase: the transitions of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/phase.h"

static const bool legal[RLI_PHASES][RLI_PHASES] = {
    [RLI_OPEN] = {[RLI_DONE] = true,
                  [RLI_RELEASING_ASYNC] = true,
                  [RLI_KEPT] = true,
                  [RLI_LOST] = true,
                  [RLI_COMPENSATING] = true},   /* the last: a call gave up, and its request may have taken the lock */
    [RLI_DONE] = {[RLI_RELEASING_ASYNC] = true, /* its hold was kept, and nobody took it */
                  [RLI_COMPENSATING] = true,
                  [RLI_LOST] = true}, /* its async release came too late */
    [RLI_RELEASING_ASYNC] = {[RLI_DONE] = true},
    [RLI_KEPT] = {[RLI_DONE] = true},
    [RLI_LOST] = {[RLI_DONE] = true},         /* its owner has been told of each hold */
    [RLI_COMPENSATING] = {[RLI_LOST] = true}, /* its async release was repeated, and found nothing */
};

bool rli_phase_may_become(rli_phase from, rli_phase to)
{
    return legal[from][to];
}
