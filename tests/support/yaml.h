/* Redisson's configuration file for servers of the test. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_YAML_H
#define TEST_YAML_H

#include "tests/support/server.h"
#include "tests/support/texts.h"

typedef struct yaml {
    const char *section;          /* as "clusterServersConfig" */
    const char *single;           /* the name of an address, as "masterAddress"; NULL: none */
    const server *addressed;      /* that one's */
    const char *list;             /* the name of a list of addresses; NULL: none */
    server *const *listed;        /* theirs */
    int count;
    const char *more, *top;       /* further unindented lines, each with its "\n", for the section and
                                     for the top level; NULL: none */
} yaml;

/* Writes the file into the folder of the first server listed, or of the one addressed; gives its path.
 * Few threads and idle connections, so that Redisson starts fast; `more` may ask for other sizes. */
const char *yaml_write(texts *texts, const yaml *yaml);

#endif
