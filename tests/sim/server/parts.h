/* The parts of the server model, for tests/sim/server alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_PARTS_H
#define SIM_SERVER_PARTS_H

#include "tests/sim/server/server.h"
#include "tests/sim/server/text.h"
#include "tests/sim/server/value.h"

struct lua_State;
struct sim_command;

#define DATABASES_MAX 16

/* A write that replicas do not have yet: what each key became, and what was published. */
typedef struct log_change {
    int database;
    char *key; /* NULL: a message */
    size_t key_length;
    sim_value *value; /* NULL: it is gone */
    char *channel, *message;
    size_t channel_length, message_length;
} log_change;

typedef struct log_unit {
    log_change *changes;
    size_t count;
} log_unit;

typedef struct write_log {
    log_unit *units; /* from `first` on */
    int64_t first;
    size_t count, room;
    log_unit open; /* what the present command has changed so far */
} write_log;

/* For INFO (statistics.h). */
typedef struct statistics {
    int64_t commands, connections, rejected, errors;
    table calls; /* name → how often, as its length */
} statistics;

struct sim_server {
    sim_server_settings settings;
    statistics statistics;
    int64_t most_links, idle_s; /* maxclients, and timeout; 0: none */
    bool monitors;              /* some link does */
    int trackers;               /* so many links track keys */
    char notifies[12];          /* of what becomes of keys: the letters of notify-keyspace-events */
    bool changed; /* the present command has written, or published */
    char host[64], user[64], password[64];
    char run_id[41];
    uint64_t runs;
    table databases[DATABASES_MAX];
    sim_link *links; /* newest first */
    uint64_t last_id;
    table channels, patterns, shards; /* name → subscribers */
    const char *overheard;            /* by somebody beyond the links: the pattern; NULL: nothing */
    int64_t now_us; /* of the present command */
    int64_t started_us;
    int64_t paused_until_ms; /* 0: not paused */
    bool pause_writes_only;
    sim_failure failure;
    char *denied[3]; /* patterns, by sim_right */

    sim_server *master, *next_replica, *replicas;
    bool absent; /* it is a master that is not there, and belongs to its replica */
    bool connected, synced; /* to the master; has its data up to `applied` */
    int64_t applied;
    int64_t offset; /* writes so far */
    write_log log;

    const sim_cluster_view *cluster;
    const sim_sentinel_view *sentinel;
    char master_host[64]; /* as the sentinel said last */
    int master_port;

    struct lua_State *lua; /* NULL: no script has been run yet */
    int readonly_globals;  /* in Lua's registry */
    table scripts;         /* sha1 → script */
    struct sim_call *caller;   /* whose script runs; NULL: none */
    bool script_wrote;
    int script_database;
    uint64_t last_pop;     /* pops_place of the link that came last */
    text *words;           /* of the command that is being read */
    int words_room;
    bytes asked;           /* sim_server_ask's answer */
};

struct sim_link {
    sim_server *server;
    sim_link *next;
    void *peer;
    uint64_t id;
    int64_t opened_us;
    bytes in, out;
    int database;
    bool authenticated, asking, readonly, hung_up, closing; /* closing: once the present command is answered */
    bool muted;    /* an internal one, without a world behind it */
    bool running;  /* a command of it runs */
    bytes name;
    table channels, patterns, shards; /* that it hears */
    bool in_multi, multi_broken;
    struct queued *queue;
    size_t queued, queue_room;
    int64_t written; /* offset after its last command */
    bool waits;      /* in WAIT, or in a blocking pop */
    bool pops, pops_last; /* in a blocking pop; of the last element */
    uint64_t pops_place;  /* in the order of all that came to wait */
    const struct sim_command *pops_command;
    text *kept;           /* its words; NULL: none */
    int kept_count;
    int64_t wait_until_ms, wait_for;
    bool postponed;  /* by a pause */
    bool monitors;   /* it is told of all commands */
    bool tracks, no_loop; /* CLIENT TRACKING is on; without its own changes */
    uint64_t redirect;    /* which link is told; 0: none */
    table tracked;        /* keys that it has read and that have not changed since */
    int64_t heard_us; /* when it said something last */
};

/* A command that waits for EXEC. */
typedef struct queued {
    const struct sim_command *command;
    text *words; /* one allocation with the bytes behind */
    int count;
} queued;

#define NESTED_MAX 8

/* One run of a command. */
typedef struct sim_call {
    sim_server *server;
    sim_link *link; /* a script's: that of its caller */
    const struct sim_command *command;
    const text *words;
    int count;
    int database;
    struct lua_State *lua; /* NULL: it answers to the link, else by one value on Lua's stack */
    struct {
        size_t left;
        int index;
    } nested[NESTED_MAX]; /* arrays of Lua that are being filled */
    int depth;
    bool failed; /* it answered an error */
    bool notified;
    bool wrote;
} sim_call;

static inline int64_t now_ms(const sim_server *server)
{
    return server->now_us / 1000;
}

/* --- links (link.c) --- */

void link_spoke(sim_link *link);
void link_hang_up(sim_link *link);
void link_go_on(sim_link *link); /* runs what it has heard, if nothing keeps it */
sim_link *link_make(sim_server *server, void *peer);
void link_clear_queue(sim_link *link);
text *words_copy(const text *words, int count); /* one allocation with the bytes behind */

void pause_look(sim_server *server); /* ends one that is over */
int64_t idle_due_us(const sim_server *server); /* when the next link has been idle for too long; INT64_MAX: none will */
void idle_look(sim_server *server);            /* ends those that have */

void monitors_tell(const sim_call *call); /* monitor.c */

/* --- CLIENT TRACKING (tracking.c) --- */

void tracking_ran(const sim_call *call); /* notes what it has read */
void tracking_changed(sim_server *server, text key);
void tracking_flushed(sim_server *server);
void tracking_end(sim_link *link);

/* --- notifications (notify.c); without a listener's wish all do nothing --- */

bool notify_set(sim_server *server, text letters); /* of notify-keyspace-events; false: it knows none such */
void notify(sim_server *server, int database, char class, const char *event, text key);
void notify_changed(sim_call *call, text key); /* by the call's command; once */
int64_t notify_due_us(sim_server *server);     /* when the next key expires; INT64_MAX: none does */
void notify_look(sim_server *server);          /* tells of those that have */

/* --- keys (keyspace.c) --- */

uint64_t order_seed(const sim_server *server);
/* NULL: there is none, or it has expired. */
sim_value *key_find(sim_call *call, text key);
/* False: it is of another type, and the answer is given. *found NULL: there is none. */
bool key_of(sim_call *call, text key, value_type type, sim_value **found);
/* A new one, in place of what was there. */
sim_value *key_make(sim_call *call, text key, value_type type);
bool key_delete(sim_call *call, text key);
void key_delete_untold(sim_call *call, text key); /* without a notification */
void key_delete_empty(sim_call *call, text key, const sim_value *own); /* when it has no members */
/* Notes that it changed: to be called at each write but key_delete. */
void key_changed(sim_call *call, text key);
void key_put(sim_call *call, text key, sim_value *own);
size_t keys_count(sim_server *server, int database);
void keys_clear(sim_server *server);

/* --- replication (replication.c) --- */

void note_change(sim_server *server, int database, text key);
void note_message(sim_server *server, text channel, text message);
void unit_end(sim_server *server); /* the present command is over */
void log_free(sim_server *server);
int replicas_with(const sim_server *server, int64_t offset);
int replicas_connected(const sim_server *server);
void waits_look(sim_server *server); /* ends the WAITs that are over */
void pops_look(sim_server *server);  /* serves those in blocking pops whose turn it is, and ends those that are over */

/* --- messages (pubsub.c) --- */

size_t publish(sim_server *server, text channel, text message);
size_t publish_sharded(sim_server *server, text channel, text message);
void unsubscribe_all(sim_link *link);
bool hears_anything(const sim_link *link);
/* That node serves the channel's slot no more: those who listen to it here are told. */
void shards_look(sim_server *server);

/* --- scripts (scripts.c) --- */

void scripts_forget(sim_server *server);

#endif
