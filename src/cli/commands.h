/* Sub-commands: each parses its own argv (argv[0] is its name) and returns the exit status. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int run_command(char **argv);
int inspect_command(char **argv);
int force_unlock_command(char **argv);
int bench_command(char **argv);

#endif
