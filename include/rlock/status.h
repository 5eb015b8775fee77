/* Status: what a call returns, its text, and the details of a thread's last failure. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_STATUS_H
#define RLOCK_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RLOCK_API        __attribute__((visibility("default")))
#define RLOCK_MUST_CHECK __attribute__((warn_unused_result))
#else
#define RLOCK_API
#define RLOCK_MUST_CHECK
#endif

/* X(name, value, text): from this list the enum and rlock_strstatus() are made. Values never change. */
#define RLOCK_STATUSES(X)                                                                                              \
    X(RLOCK_OK, 0, "ok")                                                                                               \
    X(RLOCK_TIMEOUT, 1, "not acquired in the time given")                                                              \
    X(RLOCK_NOT_OWNER, 2, "not held by this owner")                                                                    \
    X(RLOCK_LOST, 3, "the lock expired or was forced open while it was held")                                          \
    X(RLOCK_CANCELLED, 4, "the wait was cancelled")                                                                    \
    X(RLOCK_ALREADY_HELD, 5, "a non-reentrant lock that this owner holds already")                                     \
    X(RLOCK_INVALID, 6, "bad argument")                                                                                \
    X(RLOCK_UNAVAILABLE, 7, "no server answered within the attempts")                                                  \
    X(RLOCK_UNKNOWN, 8, "sent, the answer was lost, and it must not be repeated")                                      \
    X(RLOCK_NOT_SYNCED, 9, "too few replicas confirmed; the acquisition was undone")                                   \
    X(RLOCK_SERVER, 10, "the server refused")                                                                          \
    X(RLOCK_UNSUPPORTED, 11, "not supported")                                                                          \
    X(RLOCK_NO_MEMORY, 12, "out of memory")                                                                            \
    X(RLOCK_CLOSED, 13, "the client is closed")                                                                        \
    X(RLOCK_FORKED, 14, "the client belongs to the parent process; open one after fork()")

/* RLOCK_TIMEOUT      the server did answer. Java: tryLock() returns false.
 * RLOCK_NOT_OWNER    Java: IllegalMonitorStateException.
 * RLOCK_LOST         this owner held the lock, but the hold expired, was deleted or was forced open.
 * RLOCK_CANCELLED    Java: InterruptedException. Not held.
 * RLOCK_UNAVAILABLE  of an acquire: nothing new is held; if an unanswered request may have acquired the lock, that is
 *                    undone in the background. Of other calls: what the call says of it; an unlock has given up the
 *                    hold, an extend keeps it.
 * RLOCK_UNKNOWN      only from operations that cannot be repeated safely, such as force unlock.
 * RLOCK_NOT_SYNCED   only of acquires, with servers that have replicas: not held.
 * RLOCK_SERVER       READONLY, OOM, NOPERM, WRONGTYPE…; rlock_last_error() has the server's words. */
#define RLOCK_STATUS_ENUM_(name, value, words) name = value,
typedef enum rlock_status { RLOCK_STATUSES(RLOCK_STATUS_ENUM_) } rlock_status;
#undef RLOCK_STATUS_ENUM_

/* The text for `status`; never NULL, not to be freed. Any thread. */
RLOCK_API const char *rlock_strstatus(rlock_status status);

/* Says what went wrong in this thread's last call that failed, and what to do about it, with names and
 * numbers; "" before the first failure. After a call that succeeded, the text may come from that call, which
 * recovered from a failure.
 * One line of UTF-8, up to 511 bytes. Control characters and bytes that are not UTF-8, which names and
 * servers' words may contain, are escaped as \n, \x1b or \u009b. Contains no password, unless a server puts one
 * into its error to a command other than the login. Owned by the library; valid until this thread's next call. */
RLOCK_API const char *rlock_last_error(void);

/* The library's version: RLOCK_VERSION at the time of its build. */
RLOCK_API const char *rlock_version(void);

#ifdef __cplusplus
}
#endif
#endif
