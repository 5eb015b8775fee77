/* Which server the command talks to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/server.h"

#include "cli/exits.h"
#include "cli/message.h"

#include <stdlib.h>

int server_open(rlock_client **client, const char *url)
{
    const char *source = " in --url";
    if (!url) {
        url = getenv("RLOCK_URL");
        source = " in RLOCK_URL";
    }
    if (!url || !*url) {
        url = "redis://127.0.0.1:6379";
        source = "";
    }
    rlock_config config;
    rlock_config_init(&config);
    config.address = url;
    config.client_name = "rlock"; /* for CLIENT LIST, unless the URL says otherwise */

    rlock_status status = rlock_client_open_config(client, &config);
    if (status == RLOCK_INVALID || status == RLOCK_UNSUPPORTED)
        complain("the server's address%s: %s", source, rlock_last_error());
    else if (status != RLOCK_OK)
        complain("%s", rlock_last_error());
    return exit_for(status);
}
