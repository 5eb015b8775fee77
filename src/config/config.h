/* Reading and writing an rlock_config of any version. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONFIG_H
#define RLI_CONFIG_H

#include <rlock/config.h>

/* Fills *full with the fields that `config` has, and with the defaults of fields that its version does not
 * have. RLOCK_OK; RLOCK_INVALID: `config` is NULL, its size was not set by rlock_config_init, or a newer
 * program has set a field that this library does not know. */
rlock_status rli_config_read(rlock_config *full, const rlock_config *config);
/* As rli_config_read, for a config that can own memory: also RLOCK_INVALID if it is too short to have
 * `owned`. rli_config_write() copies *full back into `config`, up to its size. */
rlock_status rli_config_read_owner(rlock_config *full, const rlock_config *config);
void rli_config_write(rlock_config *config, const rlock_config *full);

#endif
