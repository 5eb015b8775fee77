/* A loopback port for a server of the test, which nobody else is given while it is held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PORT_H
#define TEST_PORT_H

/* A bound socket, on which nothing ever listens: the kernel gives its port to nobody who asks for any,
 * while a server that asks for this very one, with SO_REUSEADDR as servers do, may listen on it, be
 * ended, and listen again. `port` 0: any that is free. -1: somebody has it. */
int port_hold(int port);
int port_held(int fd); /* which one it is */

#endif
