/* Scripts: Lua that the server runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_SCRIPTS_H
#define SIM_SERVER_SCRIPTS_H

#include "tests/sim/server/parts.h"

typedef struct sim_script {
    char sha1[41];
    int function;     /* in Lua's registry */
    const char *name; /* NULL: none of ours */
} sim_script;

/* The state of Lua, with redis.call and the rest; made when it is needed first. */
struct lua_State *script_state(sim_server *server);
/* The function on top of the stack can't set globals. */
void script_shield(sim_server *server);
/* Runs the function, which the registry holds, and says its answer. */
void script_run(sim_call *call, const sim_script *script, int keys);
void script_state_free(sim_server *server);

/* The errors of one version or another (script_errors.c). */
void script_raise(struct lua_State *lua, const sim_server *server); /* the error table that is on top */
int script_error_handler(struct lua_State *lua);
void script_say_failure(sim_call *call, const sim_script *script);           /* the error that ended it, on top of the stack */
/* Pushes a table with such an error; it has a code before it, or gets ERR. */
void script_push_error(struct lua_State *lua, const sim_server *server, const char *what);

/* What a script answered is on top of the stack; takes it off. */
void script_say(sim_call *call, struct lua_State *lua);

/* NULL: that is none of the library's own. "lock/acquire". */
const char *script_name(const char *sha1);

#endif
