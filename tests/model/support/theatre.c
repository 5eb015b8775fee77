/* Theatre: what a run of a sequence has to itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/support/theatre.h"

#include "tests/integration/support/stage.h"

#include <stdio.h>

struct theatre theatre;

void theatre_open(bool stand_in_first, bool stand_in_second)
{
    static int runs;
    const bool stands_in[] = {stand_in_first, stand_in_second};
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    snprintf(theatre.name, sizeof theatre.name, "model%d", ++runs);
    for (int i = 0; i < 2; i++) {
        theatre.clients[i] = NULL;
        if (!stands_in[i])
            assert_ok(rlock_client_open(&theatre.clients[i], server_url(stage.server)));
    }
}

void theatre_close(void)
{
    for (int i = 0; i < 2; i++)
        rlock_client_close(theatre.clients[i]);
}
