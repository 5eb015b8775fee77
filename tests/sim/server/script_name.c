/* Which of the library's scripts one is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/script_names.h"
#include "tests/sim/server/scripts.h"

#include "redis/script.h"

#include <string.h>

const char *script_name(const char *sha1)
{
    for (size_t i = 0; rli_scripts[i]; i++) {
        for (int spread = 0; spread < RLI_PUBSUB_MODES; spread++) {
            if (strcmp(rli_scripts[i]->sha1[spread], sha1) == 0)
                return script_names[i];
        }
    }
    return NULL;
}
