/* Servers: what a plan's clients connect to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVERS_H
#define SIM_SERVERS_H

#include "tests/sim/program/plan.h"
#include "tests/sim/world/network.h"

void servers_start(const plan *by);
/* The URL of them, with that query; static text. */
const char *servers_url(const char *query);
/* How long it takes from now on to find out what their name stands for. */
void servers_name_takes(int64_t span_ns);
/* The host that serves an object now. */
host *servers_host(int object);
host *servers_any(int number);
host *servers_with_data(int number); /* or that should have */
/* What the checker looks for past the wire. */
typedef void server_key_fn(void *argument, host *at, const char *name, size_t length, const char *type, int64_t left_ms);
void servers_each_key(server_key_fn *act, void *argument);
/* What the server of an object would answer to a command (words, ended by NULL): a number, 0 for none; whether it is
 * that text. It changes nothing. */
int64_t servers_ask_number(int object, const char *const *words);
bool servers_ask_text(int object, const char *text, const char *const *words);
#define servers_number(object, ...) servers_ask_number(object, (const char *const[]){__VA_ARGS__, NULL})
#define servers_says(object, text, ...) servers_ask_text(object, text, (const char *const[]){__VA_ARGS__, NULL})
int64_t servers_wall_ms(const host *at);
/* Foreign hands: one command, past the network. */
void servers_command(host *at, const char *const *words);

#endif
