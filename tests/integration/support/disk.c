/* A server's disk that is full: a folder stands in the way of its file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/disk.h"

#include "tests/integration/support/refusing.h"
#include "tests/support/shell.h"

void disk_spoil(server *of)
{
    shell_do("mkdir '%s/dump.rdb'", server_folder(of));
    freeReplyObject(server_command(of, "CONFIG SET save %s", "3600 1"));
    freeReplyObject(server_command(of, "BGSAVE"));
    server_await_info(of, "rdb_last_bgsave_status:err", 0);
}

void disk_mend(server *of)
{
    shell_do("rmdir '%s/dump.rdb'", server_folder(of));
    freeReplyObject(server_command(of, "CONFIG SET stop-writes-on-bgsave-error no"));
}
