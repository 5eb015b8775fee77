/* Redisson in the place of a client in sequences (tests/model): it must do as the models say, too. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_JAVA_H
#define MODEL_JAVA_H

#include "tests/model/support/lock_subject.h"
#include "tests/model/support/theatre.h"

/* Locks of any kind; the owners are threads. */
outcome java_plays_lock(const move *step, const kind *of, const char *name);
/* The id of Java's client. A JVM that was told much, or a client that is some seconds old, is replaced first. */
const char *java_model_id(void);

object_stand_in java_plays_semaphore, java_plays_latch, java_plays_permits;

#endif
