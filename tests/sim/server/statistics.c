/* Statistics: what the server has run and refused so far, for INFO. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/statistics.h"

#include <inttypes.h>

void statistics_ran(sim_server *server, const sim_command *command)
{
    bool fresh;
    server->statistics.commands++;
    table_add(&server->statistics.calls, text_of(command->name), &fresh)->length++;
}

void statistics_begin(sim_server *server)
{
    table_clear(&server->statistics.calls, NULL);
    server->statistics = (statistics){0};
    table_init(&server->statistics.calls, order_seed(server));
}

void add_stats(const sim_server *server, bytes *to)
{
    const statistics *own = &server->statistics;
    bytes_print(to, "# Stats\r\ntotal_connections_received:%" PRId64 "\r\ntotal_commands_processed:%" PRId64 "\r\n",
                own->connections, own->commands);
    bytes_print(to, "rejected_connections:%" PRId64 "\r\ntotal_error_replies:%" PRId64 "\r\n", own->rejected, own->errors);
}

void add_commandstats(const sim_server *server, bytes *to)
{
    bytes_print(to, "# Commandstats\r\n");
    for (const entry *one = table_next(&server->statistics.calls, NULL); one;
         one = table_next(&server->statistics.calls, one))
        bytes_print(to, "cmdstat_%.*s:calls=%zu,usec=0,usec_per_call=0.00\r\n", (int)one->name_length, one->name, one->length);
}
