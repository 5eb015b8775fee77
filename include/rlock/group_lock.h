/* Group lock: many values of one group, held together. Java: getMultiLock(group, values). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_GROUP_LOCK_H
#define RLOCK_GROUP_LOCK_H

#include <rlock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RLOCK_GROUP_VALUES_MAX 1000000 /* limit for one lock */

/* A value: bytes of any kind, and how many. Java and C mean the same value if it is the same bytes, which in Java are
 * what the codec of the client makes of the object. */
typedef struct rlock_value {
    const void *bytes;
    size_t length;
} rlock_value;

/* Makes a lock of `n` values (1 to RLOCK_GROUP_VALUES_MAX) of the group `group` (a name as for rlock_get_lock). It is
 * held when all of the values are held: one request takes them all, or none. Two such locks of a group exclude each
 * other exactly if they have a value in common. A value that is given twice counts once. `values` and their bytes are
 * copied. On the server the group is one hash, which must not be the name of another lock. The lock is reentrant, and
 * renewed or leased as others are. All functions of rlock.h work on the handle; what differs:
 * RLOCK_ALREADY_HELD  also: this owner holds some of the values already, through a lock of other values of the group.
 *                     It would wait for itself. Lock all that it needs at once, or unlock first.
 * RLOCK_LOST          one of the values is lost; the others are released.
 * rlock_is_locked     whether any owner holds at least one of the values.
 * rlock_remain_time_to_live  until the last of these holds ends.
 * rlock_force_unlock  frees these values, whoever holds them, alone or together with others.
 * rlock_name          the group.
 * The server's time decides when a hold ends; Redisson uses the clocks of its own machines. So where Java programs
 * share the group, the clocks of all machines must agree to within a fraction of the lease.
 * NULL: RLOCK_INVALID (no values, too many, a NULL among them, the group's name), RLOCK_NO_MEMORY, RLOCK_CLOSED or
 * RLOCK_FORKED; see rlock_last_error(). End it with rlock_free(). Any thread.
 * Follows org.redisson.RedissonFasterMultiLock. Java: getMultiLock(group, values). */
RLOCK_API rlock *rlock_get_group_lock(rlock_client *client, const char *group, const rlock_value *values, size_t n);

/* How Java's client makes bytes of objects: the `codec` of its configuration. */
typedef enum rlock_codec {
    RLOCK_CODEC_KRYO5 = 0,  /* Kryo5Codec: Redisson's default */
    RLOCK_CODEC_STRING = 1, /* StringCodec; for numbers also LongCodec */
    /* As the client is configured: Kryo5Codec if neither the file nor the program has said a codec. */
    RLOCK_CODEC_CONFIGURED = 2
} rlock_codec;

/* As rlock_get_group_lock, for values that are Strings in Java (UTF-8; also RLOCK_INVALID if one is not) or Longs. Also
 * RLOCK_INVALID: the client is configured for another codec, with which Java's clients write other bytes. */
RLOCK_API rlock *rlock_get_group_lock_of_strings(rlock_client *client, const char *group, rlock_codec codec,
                                                 const char *const *texts, size_t n);
RLOCK_API rlock *rlock_get_group_lock_of_longs(rlock_client *client, const char *group, rlock_codec codec,
                                               const int64_t *numbers, size_t n);

/* Write the bytes that the codec (not RLOCK_CODEC_CONFIGURED) makes of a String (UTF-8) or a Long to `bytes`, for
 * values of several kinds in one lock. *length: how many fit there; then how many there are. RLOCK_OK; RLOCK_INVALID:
 * an argument is wrong, or they do not fit (then *length is how many there are, and `bytes` may be NULL); the text is
 * not UTF-8. Any thread. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_encode_string(rlock_codec codec, const char *text, void *bytes,
                                                            size_t *length);
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_encode_long(rlock_codec codec, int64_t number, void *bytes,
                                                          size_t *length);

#ifdef __cplusplus
}
#endif
#endif
