/* Guarded writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/program/guarded.h"

#include "tests/sim/check/guarded.h"
#include "tests/sim/world/finding.h"

#include <string.h>

void guarded_step(worker *self, const plan_step *step)
{
    call own;
    char value[16];
    int resource = run_resource(self->of->plan, step->object);
    int number = self->token ? guarded_begins(resource, self, self->token) : -1;
    if (number < 0)
        return;
    snprintf(value, sizeof value, "%d", number);
    call_begin(&own, self, step, NULL);
    call_end(&own, rlock_fenced_set(self->of->client, self->of->plan->objects[step->object].name, value, strlen(value),
                                    self->token));
    judge_question(&own);
    if (own.status == RLOCK_NOT_OWNER)
        finding("%s answered %s", own.title, rlock_strstatus(own.status));
    guarded_ended(number, &own);
}
