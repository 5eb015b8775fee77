/* Statistics: what the server has run and refused so far, for INFO. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_STATISTICS_H
#define SIM_SERVER_STATISTICS_H

#include "tests/sim/server/command.h"

void statistics_begin(sim_server *server);
void statistics_ran(sim_server *server, const sim_command *command);

/* Sections of INFO. */
void add_stats(const sim_server *server, bytes *to);
void add_commandstats(const sim_server *server, bytes *to);

#endif
