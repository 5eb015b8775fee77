/* A temporary folder that goes with the test, however the test ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <sys/types.h>
#include <sys/un.h>

typedef struct folder {
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* with room for the name of a socket in it */
    pid_t janitor; /* a process that removes the folder when janitor_fd is closed, by us or by our death */
    int janitor_fd;
} folder;

void folder_make(folder *folder);   /* an empty one, under TMPDIR */
void folder_remove(folder *folder); /* with all in it */

#endif
