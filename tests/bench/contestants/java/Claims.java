// Claims: memory shared by all contestants, in which the holder of a lock says that it is, and that it was the last.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

final class Claims {
    private static final VarHandle WORD =
        MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int BYTES = 2 * Long.BYTES; // of a claim

    private final ByteBuffer words;

    Claims(String path) throws IOException {
        try (FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            words = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size());
        }
    }

    private static long fnv1a(String name) {
        long hash = 0xcbf29ce484222325L;
        for (byte octet : name.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (octet & 0xff)) * 0x100000001b3L;
        }
        return hash;
    }

    /** One thread's, for as long as it lives. */
    static class Claim {
        long violations; // that it has seen
        long handed;     // how often the lock came from another contender

        /** With the lock held, and before it is given back. */
        void check() {
        }
    }

    private final class Exclusive extends Claim {
        private final int at;
        private final long own;

        Exclusive(int at, long own) {
            this.at = at;
            this.own = own;
        }

        /** Swaps, instead of reads and writes: two holders cannot miss each other. */
        @Override
        void check() {
            boolean alone = (long) WORD.getAndSet(words, at, own) == 0;
            long last = (long) WORD.getOpaque(words, at + Long.BYTES);
            if (last != own) {
                WORD.setOpaque(words, at + Long.BYTES, own);
                handed += last == 0 ? 0 : 1;
            }
            alone &= (long) WORD.getAndSet(words, at, 0L) == own;
            if (!alone) {
                violations++;
            }
        }
    }

    /** The number of a name's claim, which is two words: the holder, and the last one. */
    int word(String name) {
        return (int) Long.remainderUnsigned(fnv1a(name), words.capacity() / BYTES);
    }

    /** Of a thread, counted from 0, on the lock of that name. */
    Claim of(String name, int thread) {
        return new Exclusive(word(name) * BYTES, Usage.PID << 20 | (thread + 1));
    }

    /** For what may have many holders. */
    Claim none() {
        return new Claim();
    }
}
