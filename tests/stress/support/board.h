/* A board: a few numbers that processes of C and of Java share, which only the object under test
 * protects; Board.java has the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARD_H
#define BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Atomic only so that no half of a number is seen: who counts reads, and later writes what it read
 * plus one, so that two inside at once lose a turn. */
typedef struct board {
    atomic_llong counter; /* turns so far */
    atomic_llong mirror;  /* the same, written later in the turn */
    atomic_llong token;   /* the latest fencing token */
    atomic_llong inside;  /* how many are in their turn */
    atomic_llong most;    /* how many ever were, at once */
    atomic_llong wrong;   /* how often somebody saw what must not be */
    atomic_llong missing; /* a bit for each side that has yet to have a turn */
} board;

/* Makes a board, all 0; it goes with the test. Gives a path, to be freed, at which other processes can
 * open it while this one lives. */
char *board_make(void);
/* NULL: not to be opened. For the rest of the process. */
board *board_open(const char *path);

/* One turn more, of the side with that bit, unless there were `total` and each side had one: whether there was one
 * left. */
bool board_count_up(board *board, int64_t total, int side);
/* The same for many who are inside at once. */
bool board_claim(board *board, int64_t total, int side);
void board_enter(board *board, int64_t limit); /* wrong when there are more than `limit` */
void board_leave(board *board);
void board_accuse(board *board); /* something was wrong */

#endif
