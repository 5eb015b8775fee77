/* Loss: whether what the command runs under is still held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LOSS_H
#define CLI_LOSS_H

#include "cli/hold.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct cli_loss {
    const cli_hold *hold;
    int fd;            /* eventfd: readable once a loss was reported */
    atomic_int reason; /* the reported rlock_lost_reason; -1: none */
} cli_loss;

/* Starts to watch `hold`, the only hold of `client`. False: errno says why. End it with loss_unwatch(). */
bool loss_watch(cli_loss *loss, rlock_client *client, const cli_hold *hold);
void loss_unwatch(cli_loss *loss, rlock_client *client);

/* Whether the hold is lost. The local clock is enough to know: no report has to arrive. */
bool loss_happened(cli_loss *loss);

/* Why the hold was lost, in words; only after loss_happened() returned true. */
const char *loss_words(cli_loss *loss);

#endif
