/* The names of the library's scripts, in the order of rli_scripts; made by the Makefile from the names of their files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_SCRIPT_NAMES_H
#define SIM_SERVER_SCRIPT_NAMES_H

extern const char *const script_names[]; /* "lock/acquire", …; ended by NULL */

#endif
