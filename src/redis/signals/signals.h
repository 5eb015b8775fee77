/* Signals: elements that releases leave in lists, one for one waiter. Redis gives an element to whoever has waited for
 * it longest in BLPOP.
 *
 * A list that is waited for has its own connection, since BLPOP blocks it; one thread reads those of a server. A
 * connection that no BLPOP blocks is kept for a while. A signal says that asking may be worth it, and no more: it may
 * come late, or be lost with a connection. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SIGNALS_H
#define RLI_SIGNALS_H

#include "base/park.h"
#include "config/settings.h"
#include "net/connection.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The number of lists of a server that are waited for at a time. Waiters for more of them ask with a back-off. */
#define RLI_SIGNAL_LISTS_MAX 64

/* The state of a list's connection. signals_thread.c has the table of the legal transitions. */
typedef enum rli_signal_state {
    RLI_SIGNAL_OFF,     /* there is none */
    RLI_SIGNAL_IDLE,    /* nothing is under way on it */
    RLI_SIGNAL_BLOCKED, /* a BLPOP is under way */
    RLI_SIGNAL_ENDS,    /* nobody waits any more: it is closed for sending, until the server ends it, too */
    RLI_SIGNAL_PASSES,  /* a signal is passed on to another waiter */
    RLI_SIGNAL_STATES
} rli_signal_state;

struct rli_listener;

typedef struct rli_signal_list {
    struct rli_signal_list *next, *previous;
    rli_signal_state state;
    rli_connection connection; /* unless RLI_SIGNAL_OFF */
    /* RLI_SIGNAL_OFF: when to connect at the earliest; RLI_SIGNAL_IDLE: when it is closed; else: when the server's
     * answer is late. */
    int64_t until_ms;
    int64_t pause_ms;      /* after the next failure */
    int64_t pass_until_ms; /* no longer is a signal passed on */
    struct rli_listener *listeners;
    int references; /* how many wait, in a local queue or for a signal */
    bool wanted;    /* one of them waits for the next signal */
    bool popped;    /* a signal has come that no waiter has used */
    bool passes;    /* a signal has come, or may have, that nobody uses: it is to be passed on */
    bool works;     /* a BLPOP is under way, or was answered, since the connection was made */
    bool refused;   /* the last BLPOP that was answered was refused */
    char *lock;     /* the key of the lock */
    size_t lock_length, length;
    char name[];
} rli_signal_list;

typedef struct rli_signals {
    const rli_settings *settings;
    const rli_address *address;
    const atomic_bool *closed; /* the client is closed; ends connecting */
    atomic_uint drops;         /* a change ends connecting, too */
    pthread_mutex_t mutex;     /* guards all below, and every list and its listeners */
    rli_signal_list *lists;
    size_t count;
    pthread_t thread; /* started by the first join */
    bool running, stopping;
    int64_t stop_by_ms; /* stopping: when it ends at the latest */
    int wake_fd;        /* an eventfd that interrupts the thread's poll; -1: none */
} rli_signals;

/* The arguments must live as long as the signals. It connects when somebody waits for a list. */
void rli_signals_init(rli_signals *signals, const rli_settings *settings, const rli_address *address,
                      const atomic_bool *closed);

/* From now on until rli_signals_leave the caller may wait for the list of that name, which belongs to the key `lock`.
 * *list NULL with RLOCK_OK: too many lists are waited for. RLOCK_NO_MEMORY, RLOCK_CLOSED; RLOCK_UNAVAILABLE: the server
 * must not be used any more. */
rlock_status rli_signals_join(rli_signals *signals, const char *name, size_t length, const char *lock,
                              size_t lock_length, rli_signal_list **list);
/* unused: the caller took a signal and has not asked since. If nobody else here waits, it is passed on. */
void rli_signals_leave(rli_signals *signals, rli_signal_list *list, bool unused);

/* From now until rli_signal_unlisten, the parker is woken by each signal, and when the connection is lost. */
void rli_signal_listen(rli_signals *signals, rli_signal_list *list, struct rli_listener *listener, rli_parker *parker);
void rli_signal_unlisten(rli_signals *signals, rli_signal_list *list, struct rli_listener *listener);
/* Whether a signal has come, or the connection was lost, since the last call. *signalled: it was a signal, which is the
 * caller's now. */
bool rli_signal_take(rli_signals *signals, rli_signal_list *list, struct rli_listener *listener, bool *signalled);
/* Waits for the next signal from now on. */
void rli_signal_want(rli_signals *signals, rli_signal_list *list);
/* Whether signals arrive, as far as is known. */
bool rli_signal_works(rli_signals *signals, rli_signal_list *list);

/* Wakes all listeners, because the server serves fewer keys than before. */
void rli_signals_rouse(rli_signals *signals);
/* Also ends the connections, because the server serves nothing any more. */
void rli_signals_drop(rli_signals *signals);

/* Ends the connections and joins the thread. orderly: signals that nobody uses are passed on first, which takes as long
 * as the server takes to answer, at most `timeout`. The lists stay until they are left, but receive nothing. */
void rli_signals_stop(rli_signals *signals, bool orderly);
/* Undoes the stop: lists may be waited for again. */
void rli_signals_reopen(rli_signals *signals);
void rli_signals_destroy(rli_signals *signals);

#endif
