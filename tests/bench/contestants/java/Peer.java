// A product other than Redisson, as far as the benchmark needs it.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

interface Peer {
    /** Connects to the server at that URL. */
    void open(String url) throws Exception;

    /** A handle for the turns of one thread on the lock of that name, which other threads may want, too. */
    Taking join(String name) throws Exception;
}
