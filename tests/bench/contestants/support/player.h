/* A player: what a contestant written in C has to be able to do; all else is here, for all of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PLAYER_H
#define BENCH_PLAYER_H

#include <stdbool.h>

/* What fails says so by trouble(). */
typedef struct bench_player {
    bool (*open)(const char *url);
    /* What one thread needs for its turns on `name`, or NULL; `kind` is as in the protocol. */
    void *(*join)(const char *kind, const char *name);
    bool (*take)(void *own); /* waits for the lock as long as it takes */
    bool (*give)(void *own);
    void (*leave)(void *own);
    void (*close)(void);
} bench_player;

/* Speaks the protocol (PROTOCOL.md) on stdin and stdout until `quit`; the program's exit status. */
int player_run(const bench_player *player);

#endif
