/* Whether what a command runs under is still held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LOSS_H
#define CLI_LOSS_H

#include "cli/hold.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct cli_loss {
    const cli_hold *hold;
    int fd;            /* eventfd: readable once the library reported a loss */
    atomic_int reason; /* what it reported, a rlock_lost_reason; -1: nothing */
} cli_loss;

/* Begins to watch over the one hold of `client`. False: errno says why. */
bool loss_watch(cli_loss *loss, rlock_client *client, const cli_hold *hold);
void loss_unwatch(cli_loss *loss, rlock_client *client);

/* Whether it is lost by now. The clock alone is enough to tell: no report has to arrive. */
bool loss_happened(cli_loss *loss);

/* What befell it, in words, once it happened. */
const char *loss_words(cli_loss *loss);

#endif
