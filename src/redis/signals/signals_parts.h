/* Signals, internal part: what the thread (signals_thread.c) and the calls of waiters (signals.c) share.
 *
 * All functions expect the mutex to be held, except rli_signals_run. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SIGNALS_PARTS_H
#define RLI_SIGNALS_PARTS_H

#include "redis/signals/signals.h"

/* How long a connection is kept that nothing uses, at least. */
#define RLI_SIGNAL_IDLE_MS 5000

/* The list's connection enters the state, which must be a legal transition from its own, until that instant. */
void rli_signal_become(rli_signal_list *list, rli_signal_state state, int64_t until_ms);
/* Sends BLPOP on the idle connection. */
void rli_signal_block(const rli_signals *signals, rli_signal_list *list);
/* If the list has no connection, ends the pause before the next attempt to connect. */
void rli_signal_hurry(rli_signal_list *list);
/* Wakes all listeners of the list. */
void rli_signal_rouse(rli_signal_list *list);
/* Interrupts the thread's poll. */
void rli_signals_wake(const rli_signals *signals);
/* Whether nothing needs the list any more. */
bool rli_signal_is_over(const rli_signal_list *list);
void rli_signals_free_list(rli_signals *signals, rli_signal_list *list);
/* Body of the thread; runs until `stopping`. */
void *rli_signals_run(void *signals);

#endif
