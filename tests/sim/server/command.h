/* Commands: what each is called, how many words it has, where its keys are, and when it is refused. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_COMMAND_H
#define SIM_SERVER_COMMAND_H

#include "tests/sim/server/parts.h"

typedef enum command_flags {
    COMMAND_WRITE = 1,
    COMMAND_MEMORY = 2,     /* refused at maxmemory */
    COMMAND_NO_SCRIPT = 4,  /* not in scripts */
    COMMAND_LOADING = 8,    /* also while the server loads */
    COMMAND_BUSY = 16,      /* also while a script of somebody else runs */
    COMMAND_STRANGER = 32,  /* before AUTH */
    COMMAND_LISTENER = 64,  /* also for links that listen to channels */
    COMMAND_NO_QUEUE = 128, /* runs at once within MULTI */
    COMMAND_SENTINEL = 256, /* sentinels know it, too */
    COMMAND_SPREADS = 512,  /* its effects reach replicas: PUBLISH, EVAL; waits for a pause of writes */
    COMMAND_CHANNELS = 1024,/* its keys are channels of a shard */
    COMMAND_FAMILY = 2048,  /* has subcommands, as "client|setname" */
    COMMAND_NUMBERED = 4096,/* the word `first` says how many keys follow it */
    COMMAND_SCRIPT = 8192,  /* runs one: many refusals are left to what the script does */
    COMMAND_STALE = 16384,  /* also on a replica that has lost its master */
    COMMAND_NO_MULTI = 32768,/* not within MULTI */
    COMMAND_OPTIONS_7 = 65536,/* up to Redis 6.2 it has just as many words */
    COMMAND_STALE_6 = 131072, /* COMMAND_STALE up to Redis 6.2 */
    COMMAND_STALE_7 = 262144, /* COMMAND_STALE from Redis 7.0 on */
    COMMAND_UNSEEN = 524288   /* monitors are not told */
} command_flags;

typedef struct sim_command {
    const char *name; /* in small letters */
    void (*run)(sim_call *call);
    int arity; /* words with the name; below 0: at least so many */
    unsigned flags;
    int first, last, step; /* where its keys are; 0: it has none; last below 0: from the end */
    sim_version since;
} sim_command;

extern const sim_command string_commands[], hash_commands[], list_commands[], blocking_commands[], set_commands[], zset_commands[], key_commands[],
    expiry_commands[], pubsub_commands[], script_commands[], link_commands[], server_commands[], multi_commands[],
    replication_commands[], cluster_commands[], sentinel_commands[], monitor_commands[], setting_commands[], tracking_commands[]; /* each ended by a name NULL */

/* NULL: the server knows none. */
const sim_command *command_find(sim_server *server, const text *words, int count);
bool command_arity_fits(const sim_server *server, const sim_command *command, int count);
/* The words of its keys: their number, and of the i-th the place. */
int command_keys(const sim_command *command, const text *words, int count);
int command_key(const sim_command *command, const text *words, int count, int i);

/* Of SCAN and HSCAN: type.at NULL: of any type. False: an error was said. */
typedef struct scan_options {
    text pattern, type;
} scan_options;
bool scan_read_cursor(sim_call *call, int word);
bool scan_read_options(sim_call *call, int first, bool typed, scan_options *to);
void run_unknown_of_family(sim_call *call); /* what runs for a family alone */

/* Runs or refuses what a link asks. False: not now (a pause, a WAIT), and it is to be asked again. */
bool command_ask(sim_link *link, const text *words, int count);
/* Runs it, whatever the state of the server; for EXEC and scripts, too. */
void command_run(sim_call *call);

/* Whether the user may. *right, *word: what it lacks, for which word. */
bool command_allowed(sim_server *server, const sim_command *command, const text *words, int count, sim_right *right, int *word);

/* Where the command's keys are served, in a cluster. */
typedef enum sim_where { WHERE_HERE, WHERE_MOVED, WHERE_ASK, WHERE_CROSS, WHERE_TRY_AGAIN, WHERE_DOWN, WHERE_UNSERVED } sim_where;
sim_where command_where(sim_call *call, int *slot, int *node);
void say_where(sim_call *call, sim_where where, int slot, int node);

/* The error, with its code, that writes or all commands are refused with at present; NULL: none. */
const char *refusal_of(const sim_call *call, bool in_script);

#endif
