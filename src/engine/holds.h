/* Holds: the sessions of all owners of a client: finds, begins and ends them.
 *
 * A session begins with the first attempt of an owner on a name, and ends when no hold and no attempt is left, and
 * nothing is in doubt. engine->mutex guards all sessions, and every function here expects it to be held, unless it says
 * otherwise. None does I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HOLDS_H
#define RLI_HOLDS_H

#include "engine/entry.h"
#include "engine/kind.h"
#include "engine/owner.h"
#include "engine/session.h"

#include <rlock/lock.h>
#include <stdbool.h>
#include <stdint.h>

void rli_holds_init(rli_engine *engine);
void rli_holds_free(rli_engine *engine); /* Frees every session and entry. */

/* Returns the owner's open session of the same field (the write side of a read-write lock has one of its own). If its
 * deadline has passed, first declares it lost. NULL: none. */
rli_session *rli_session_find_open(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* Returns a lost session of the owner that has unlocks left to answer; NULL: none. */
rli_session *rli_session_find_lost(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* Returns the latest of these that has a hold which the owner took by a sharded lock (sharded), or by the name; NULL:
 * none. */
rli_session *rli_session_find_lost_of(rli_engine *engine, const rli_entry *entry, const rli_kind *kind,
                                      const rli_owner *owner, bool sharded);
/* Returns the owner's session with that number, open or lost, while it has unlocks left to answer; NULL: none. A read
 * hold may share the number of the write hold above it. */
rli_session *rli_session_find_number(rli_engine *engine, const rli_entry *entry, const rli_kind *kind,
                                     const rli_owner *owner, uint64_t number);
/* How many holds its lost sessions have that no unlock has answered for. */
int rli_session_lost_holds(rli_engine *engine, const rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* Returns the session of the owner's write hold, under which a read hold of `kind` stands; NULL: none, or another
 * kind. */
rli_session *rli_session_find_writer(rli_engine *engine, rli_entry *entry, const rli_kind *kind,
                                     const rli_owner *owner);

/* Returns the owner's open session, or a new one, with one more attempt. NULL: out of memory. */
rli_session *rli_session_join(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* Adds an attempt, which keeps the session and its cold fields alive. gives_back: as in rli_cold_fields_ensure. Returns
 * false when out of memory. */
bool rli_session_add_attempt(rli_engine *engine, rli_session *session, bool gives_back);
/* Drops the session's one plain hold without a release, because there is no memory for one. The watchdog stops
 * renewing it, so its lease ends on the server. Frees the session. */
void rli_session_abandon_hold(rli_engine *engine, rli_session *session);
/* Removes an attempt. May end and free the session. */
void rli_session_drop_attempt(rli_engine *engine, rli_session *session);
/* Once nothing needs the session any more, frees it or starts its compensating releases. Call it after every change
 * that may have removed the last need. */
void rli_session_settle(rli_engine *engine, rli_session *session);

/* As rli_session_note_unheard_head, for a release that belongs to no session, such as a force release: creates a
 * session without an owner whose compensating release notifies the head again. `unheard` is not NULL. */
void rli_entry_note_unheard_head(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const char *unheard);
/* Declares the session lost because the server no longer has the hold, or not the whole of it: of a group lock, values
 * that are left are given back. */
void rli_session_declare_gone(rli_engine *engine, rli_session *session);
/* Declares the session lost, for good. report: also queue it for rlock_on_lost. */
void rli_session_declare_lost(rli_engine *engine, rli_session *session, rlock_lost_reason reason, bool report);

#endif
