/* A link: one connection of hiredis to the server of a URL. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_LINK_H
#define BENCH_LINK_H

#include <hiredis/hiredis.h>

/* `url`: redis://HOST:PORT or unix:///PATH; `name`: in CLIENT LIST. NULL: trouble(). */
redisContext *link_open(const char *url, const char *name);

#endif
