/* docs/examples.md, a C service beside a Spring service: both issue numbers from one file under one lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/server.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"
#include "tests/unit/support/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EACH = 300 };

Test(spring, c_service_and_spring_service_issue_no_number_twice, .fini = scratch_remove)
{
    char service[4200], yaml[100];
    snprintf(service, sizeof service, "%s/agent/spring", environment("B", "build"));
    if (access(service, X_OK) != 0) {
        cr_assert(!getenv("CI"), "%s is missing", service);
        cr_skip_test("the Spring service could not be built");
    }
    server *own = server_start();
    snprintf(yaml, sizeof yaml, "singleServerConfig:\n  address: \"%s\"\n", server_tcp_url(own));
    scratch_write("redisson.yaml", yaml);
    shell_do("%s -std=c11 -D_GNU_SOURCE -Iinclude -o '%s/beside_spring' docs/examples/beside_spring.c -L'%s' -lrlock "
             "-Wl,-rpath,\"$(cd '%s' && pwd)\"",
             environment("CC", "cc"), scratch_folder(), environment("B", "build"), environment("B", "build"));
    /* The C service starts when the first number shows that the JVM has started. */
    char *said = shell("spring=\"$(cd '%s' && pwd)/agent/spring\"; cd '%s' && : >numbers &&\n"
                       "{ \"$spring\" redisson.yaml numbers %d & until [ -s numbers ]; do kill -0 $! || break; sleep 0.05; done;\n"
                       "./beside_spring redisson.yaml numbers %d; wait $!; } && cat numbers",
                       environment("B", "build"), scratch_folder(), EACH, EACH);
    cr_assert(strstr(said, "C issued 300\n") && strstr(said, "Spring issued 300\n") && strstr(said, "\n600\n"), "%s", said);
    free(said);
    server_stop(own);
}
