// An agent that serves one test after the other, each over a connection of its own to a socket in the file system.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** A JVM takes long to start, and to become fast. One that no test wants ends by itself. */
final class Host {
    private static final long UNWANTED_NS = 10_000_000_000L;
    private static volatile long freeSince;

    private Host() {
    }

    /** Ends when a test has gone without {@code leave}: what that has left behind goes with the JVM. */
    static void serve(Path socket) throws IOException {
        freeSince = System.nanoTime();
        Thread watch = new Thread(Host::endWhenUnwanted);
        watch.setDaemon(true);
        watch.start();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            boolean left = true;
            while (left) {
                try (SocketChannel test = server.accept()) {
                    freeSince = 0;
                    left = new Agent(in(test), out(test)).serve();
                    freeSince = System.nanoTime();
                }
            }
        }
    }

    private static void endWhenUnwanted() {
        while (freeSince == 0 || System.nanoTime() - freeSince < UNWANTED_NS) {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException e) {
                return;
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** Those of {@link java.nio.channels.Channels} do not read and write at a time before Java 19. */
    private static InputStream in(SocketChannel channel) {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] bytes, int from, int count) throws IOException {
                return channel.read(ByteBuffer.wrap(bytes, from, count));
            }
        };
    }

    private static OutputStream out(SocketChannel channel) {
        return new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                write(new byte[] {(byte) one}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int count) throws IOException {
                ByteBuffer rest = ByteBuffer.wrap(bytes, from, count);
                while (rest.hasRemaining()) {
                    channel.write(rest);
                }
            }
        };
    }
}
