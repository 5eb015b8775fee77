/* A script's text as the build embeds it in the library, so that the server gets the same one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_LUA_H
#define BENCH_LUA_H

/* Reads `path`, leaves out what lua/embed.sh leaves out. To be freed; exits when there is no file. */
char *lua_read(const char *path);

#endif
