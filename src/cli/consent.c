/* Consent: the warning before load is put on a server that others may use. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/consent.h"

#include "cli/exits.h"
#include "cli/message.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int consent_get(const char *warning, bool agreed)
{
    complain("%s", warning);
    if (agreed)
        return EXIT_DONE;
    if (!isatty(STDIN_FILENO)) {
        complain("nothing was done; add --yes to go on where nobody can be asked");
        return EXIT_USAGE;
    }
    fputs("Go on? [y/N] ", stderr);
    char answer[16] = "";
    if (fgets(answer, sizeof answer, stdin))
        answer[strcspn(answer, "\r\n")] = 0;
    if (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0)
        return EXIT_DONE;
    complain("nothing was done");
    return EXIT_USAGE;
}
