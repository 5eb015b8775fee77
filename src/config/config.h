/* rlock_config as programs of any version hand it over. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONFIG_H
#define RLI_CONFIG_H

#include <rlock/config.h>

/* Fills *full with the fields that `config` has, and with the defaults of those that it is too old to have.
 * RLOCK_INVALID: NULL, a size that rlock_config_init has not set, or a newer program's field that is set. */
rlock_status rli_config_read(rlock_config *full, const rlock_config *config);
/* The same of a config that can own memory, to which rli_config_write() puts it back: no more than its size. */
rlock_status rli_config_read_owner(rlock_config *full, const rlock_config *config);
void rli_config_write(rlock_config *config, const rlock_config *full);

#endif
