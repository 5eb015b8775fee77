/* Traffic: what the stage's server has been sent, counted and read along. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "redis/script.h"

#include <stddef.h>
#include <stdint.h>

/* How many scripts the server has run. */
int64_t scripts_run(void);
/* How many commands anybody but this fixture sends within ms. */
int64_t commands_within(int64_t ms);

/* A connection that reads all commands along (MONITOR). */
typedef struct monitor monitor;
monitor *monitor_open(void);
void monitor_close(monitor *monitor);
/* Reads up to now; then how many commands had all of the texts (ended by NULL) in them. */
size_t monitor_count(monitor *monitor, const char *const *texts);
/* The same for one text; commands are as the server prints them: "evalsha" "…" "1" "name". */
size_t monitor_saw(monitor *monitor, const char *text);
/* How often the script was run. */
size_t monitor_ran(monitor *monitor, const rli_script *script);
/* What was said to publish and subscribe, in order, as lines "SUBSCRIBE channel",
 * "PUBLISH channel message", or with the S of sharded ones; but not what sentinels say;
 * to be freed. */
char *monitor_messaging(monitor *monitor);
/* Each command of which monitor_saw(text) counts; `line` is valid during the call. */
void monitor_each(monitor *monitor, const char *text, void (*see)(const char *line, void *arg), void *arg);
/* For monitor_each: when commands came, by the server's clock, s; what scripts call is left out. */
typedef struct instants {
    double at[64];
    size_t count;
} instants;
void instants_note(const char *line, void *arg);
/* Forgets what was read so far. */
void monitor_forget(monitor *monitor);

#endif
