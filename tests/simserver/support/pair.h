/* A real server and the model of it, side by side: each hears the same, on links of the same number, and both must answer
 * the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PAIR_H
#define TEST_PAIR_H

#include "tests/sim/server/server.h"
#include "tests/simserver/support/wall_clock.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>

#define PAIR_LINKS 4
#define PAIR_LISTENER 2 /* this link only listens; its messages are compared after each step */
#define PAIR_EYE 3      /* and this one only looks at what is stored */

typedef struct server_pair {
    wall_clock clock;
    server *real;
    sim_version version;
    sim_server *model;
    redisContext *links[PAIR_LINKS];
    sim_link *model_links[PAIR_LINKS];
    redisReader *readers[PAIR_LINKS]; /* of what the model says */
    uint64_t seed;
    char *difference; /* what they answered, when that was not the same; NULL: it was */
} server_pair;

/* What a command has as words; copies. */
typedef struct word_list {
    int count, room;
    char **at;
    size_t *lengths;
} word_list;

void words_add(word_list *to, const char *at, size_t length);
word_list words_divide(const char *line); /* at its spaces; "~" is the empty word */
void words_free(word_list *own);
/* As one can read them; to be freed. */
char *words_show(const word_list *own);

/* The version that a running server is; fails the test when the model knows none such. */
sim_version version_of_server(server *real);

void pair_start(server_pair *pair, const char *const *args); /* further arguments for the real one, or NULL */
void pair_stop(server_pair *pair);
/* Both empty, without scripts, with fresh links. */
void pair_clear(server_pair *pair, uint64_t seed);
/* Both run it. False: they differ, and pair->difference says how. */
bool pair_run(server_pair *pair, int link, const word_list *words);
bool pair_ask(server_pair *pair, int link, const word_list *words); /* the same without a look at the listener */
bool pair_say(server_pair *pair, int link, const char *line); /* words divided by spaces */
/* The same in two halves, for commands that block: pair_answered tells whether the model has answered, and compares that
 * with the real server's answer, which is waited for. */
void pair_begin(server_pair *pair, int link, const char *line);
bool pair_answered(server_pair *pair, int link, const char *line, bool *same);
void pair_pass(server_pair *pair, int64_t us);
/* Everything that is stored, with the time that it has left. */
bool pair_compare_keys(server_pair *pair);
bool pair_compare_stored(server_pair *pair); /* without a look at the listener */

/* A reply as text, as one can compare and read it; sorted: its parts, in groups of so many, in order. To be freed. */
char *reply_show(const redisReply *reply, int sorted);
/* By how many the parts of the command's answer are to be sorted, since servers leave their order open; 0: it is not. */
int reply_groups(const word_list *words);

#endif
