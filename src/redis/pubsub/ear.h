/* The ear: who is told that holds may have been changed by others.
 *
 * Functions of the engine, which the layers below it call through this struct, with no mutex held. They only make the
 * engine look; none blocks for long. Any thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_EAR_H
#define RLI_EAR_H

#include <stddef.h>

typedef struct rli_ear {
    /* A server reports that this key was changed. `key` may be any bytes. */
    void (*key_changed)(struct rli_ear *ear, const char *key, size_t length);
    /* A connection began or ended, a server reports that all its keys may have changed, or other servers serve the
     * keys now. */
    void (*servers_changed)(struct rli_ear *ear);
} rli_ear;

#endif
