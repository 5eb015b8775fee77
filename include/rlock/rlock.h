/* librlock: the locks that Java programs get from Redisson, for C. Includes all headers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_RLOCK_H
#define RLOCK_RLOCK_H

#include <rlock/async.h>
#include <rlock/cancel.h>
#include <rlock/client.h>
#include <rlock/config.h>
#include <rlock/count_down_latch.h>
#include <rlock/group_lock.h>
#include <rlock/inspect.h>
#include <rlock/listener.h>
#include <rlock/lock.h>
#include <rlock/object.h>
#include <rlock/read_write_lock.h>
#include <rlock/semaphore.h>
#include <rlock/singleflight.h>
#include <rlock/status.h>
#include <rlock/version.h>

#endif
