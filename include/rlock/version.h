/* Version of the library; this is the only place that defines it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_VERSION_H
#define RLOCK_VERSION_H

#define RLOCK_VERSION_MAJOR 1
#define RLOCK_VERSION_MINOR 0
#define RLOCK_VERSION_PATCH 0
#define RLOCK_VERSION       "1.0.0"

#endif
