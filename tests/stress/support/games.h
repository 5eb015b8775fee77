/* Games: what many threads of C and of Java do with one object at once, on one board; Games.java
 * plays the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GAMES_H
#define GAMES_H

#include "tests/interop/support/kind.h"
#include "tests/stress/support/board.h"

/* One thread's part. */
typedef struct player {
    rlock_client *client;
    const struct game *game;
    board *board;
    int side;      /* its bit on the board */
    int64_t turns; /* out: how many were its own */
} player;

typedef struct game {
    const char *java;      /* the kind of object, as in Kinds.java */
    const char *name;      /* the object's */
    const lock_kind *kind; /* of a lock; NULL for others */
    rlock_status (*play)(player *self);
    int64_t total;         /* turns, of all players together; more if a side had none of these */
    int64_t limit;         /* how many may be inside at once; of the latch: how many play */
} game;

/* Lock, count up, unlock; a fenced lock's token must be newer than the one before. */
rlock_status play_turns(player *self);
/* Each fourth time as the writer: readers never see a write half done. */
rlock_status play_readers(player *self);
/* At most `limit` are inside; permits, by number or by id. */
rlock_status play_permits(player *self);
rlock_status play_permit_ids(player *self);
/* Rounds, each with a latch of its own: nobody goes on before all have come. `total` rounds; a turn is
 * a round of one player. */
rlock_status play_rounds(player *self);

/* Plays in `threads` threads at once; the first failure, its words on stderr, and in *turns how many
 * were had. Asserts nothing, for it runs in children. */
rlock_status game_play(const game *rules, rlock_client *client, int threads, const char *path, int side,
                       int64_t *turns);

#endif
