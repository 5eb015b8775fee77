/* Runs of the rlock command on the stage's server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_stage.h"

#include "tests/integration/support/stage.h"

#define SOON_MS 10000

outcome run(const char *const *words)
{
    return command_outcome(server_url(stage.server), words);
}

int status_of(const char *const *words)
{
    outcome found = run(words);
    outcome_free(&found);
    return found.status;
}

command *start(const char *const *words)
{
    return command_start(server_url(stage.server), words);
}

command *start_under(const char *const *words)
{
    command *self = start(words);
    cr_assert(command_says(self, "under", SOON_MS), "%s", command_err(self));
    return self;
}

void end_under(command *self)
{
    command_write(self, "\n");
    cr_assert(command_wait(self, SOON_MS) == 0, "%s", command_err(self));
    cr_assert_str_eq(command_err(self), "");
    command_free(self);
}
