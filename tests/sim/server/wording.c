/* How servers name themselves in what they say. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/wording.h"

const char *product_of(const sim_server *server)
{
    return server->settings.version == SIM_VALKEY_8_0 ? "Valkey" : server->settings.version == SIM_REDICT_7_3 ? "Redict" : "Redis";
}

const char *script_refusal_of(const sim_server *server, script_refusal what)
{
    static const char *const old[] = {"Please specify at least one argument for redis.call()",
                                      "Lua redis() command arguments must be strings or integers",
                                      "Unknown Redis command called from Lua script",
                                      "Wrong number of args calling Redis command From Lua script",
                                      "This Redis command is not allowed from scripts"};
    static const char *const valkey[] = {"Please specify at least one argument for this call",
                                         "Command arguments must be strings or integers",
                                         "Unknown command called from script",
                                         "Wrong number of args calling command from script",
                                         "This Redis command is not allowed from script"};
    static const char *const redict[] = {"Please specify at least one argument for this redict lib call",
                                         "Lua redict lib command arguments must be strings or integers",
                                         "Unknown Redict command called from script",
                                         "Wrong number of args calling Redict command from script",
                                         "This Redict command is not allowed from script"};
    static const char *const redis[] = {"Please specify at least one argument for this redis lib call",
                                        "Lua redis lib command arguments must be strings or integers",
                                        "Unknown Redis command called from script",
                                        "Wrong number of args calling Redis command from script",
                                        "This Redis command is not allowed from script"};
    sim_version version = server->settings.version;
    return (version < SIM_REDIS_7_0 ? old : version == SIM_VALKEY_8_0 ? valkey : version == SIM_REDICT_7_3 ? redict : redis)[what];
}
