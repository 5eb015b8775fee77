/* Answers: to the link as bytes, or to a script as values of Lua. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_ANSWER_H
#define SIM_SERVER_ANSWER_H

#include "tests/sim/server/parts.h"

void say_integer(sim_call *call, int64_t value);
void say_text(sim_call *call, text value);
void say_word(sim_call *call, const char *value); /* as a text */
void say_status(sim_call *call, const char *value);
void say_ok(sim_call *call);
void say_nil(sim_call *call);
void say_nil_array(sim_call *call);
void say_array(sim_call *call, size_t count); /* so many answers follow */
void say_score(sim_call *call, double score);
/* With its code: "ERR …". Ends of lines become spaces. */
__attribute__((format(printf, 2, 3))) void say_error(sim_call *call, const char *format, ...);

void say_syntax_error(sim_call *call);
void say_wrong_type(sim_call *call);

/* False: it is none, and an error was said. */
bool word_integer(sim_call *call, int word, int64_t *value);
bool word_score(sim_call *call, int word, double *value);
/* When a span of ms from now ends, by the wall clock; 0: the span is 0. */
bool word_timeout(sim_call *call, int word, int64_t *until_ms);

#endif
