/* Checks: what a server's settings and state mean for locks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECKS_H
#define CLI_CHECKS_H

#include <rlock/inspect.h>
#include <stdbool.h>

typedef enum cli_severity { FOUND_OK, FOUND_NOTE, FOUND_WARNING, FOUND_PROBLEM } cli_severity;

typedef struct cli_findings {
    bool json; /* set by the caller, the rest zero */
    int warnings, problems;
} cli_findings;

/* Prints "<severity>: <where>: <subject>: …" as one line, or the same as a JSON object, and counts it. */
void finding(cli_findings *findings, cli_severity severity, const char *where, const char *subject, const char *format,
             ...) __attribute__((format(printf, 5, 6)));

/* Checks one server, and prints what was found. */
void check_server(cli_findings *findings, const rlock_server *server);

#endif
