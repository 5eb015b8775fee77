// Java's side of the stress: turns on a counter in a file that only the lock protects.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.redisson.api.RLock;

/** Does what tests/stress/support/turns.c does, on the same file. */
final class Turns {
    private Turns() {
    }

    /** Takes turns until the counter stands at {@code total}; answers how many turns were its own. */
    static long take(RLock lock, String file, long total) throws IOException {
        long turns = 0;
        try (FileChannel counter = FileChannel.open(Path.of(file), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (boolean more = true; more; ) {
                lock.lock();
                try {
                    more = increment(counter, total);
                } finally {
                    lock.unlock();
                }
                if (more) {
                    turns++;
                }
            }
        }
        return turns;
    }

    /** Reads, lets others run, writes: two inside at once lose a turn. */
    private static boolean increment(FileChannel counter, long total) throws IOException {
        ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
        counter.read(word, 0);
        long value = word.getLong(0);
        if (value >= total) {
            return false;
        }
        Thread.yield();
        word.clear();
        word.putLong(0, value + 1);
        counter.write(word, 0);
        return true;
    }
}
