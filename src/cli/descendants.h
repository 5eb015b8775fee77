/* Every process that descends from this one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DESCENDANTS_H
#define CLI_DESCENDANTS_H

/* Sends `signal` to each of them: children, their children, and so on. One that is started at
 * the same moment may be missed; asking again finds it. */
void descendants_signal(int signal);

#endif
