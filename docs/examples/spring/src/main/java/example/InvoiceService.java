// SPDX-License-Identifier: Apache-2.0
package example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.stereotype.Service;

/** Issues invoice numbers from a file that a C service writes, too. */
@Service
public class InvoiceService {
    private final RLock lock;

    public InvoiceService(RedissonClient redisson) {
        lock = redisson.getLock("invoices");
    }

    /** Reads the last number from the file and writes the next one. */
    public long next(Path file) throws IOException {
        lock.lock();
        try {
            String last = Files.readString(file).trim();
            long number = last.isEmpty() ? 1 : Long.parseLong(last) + 1;
            Files.writeString(file, number + "\n");
            return number;
        } finally {
            lock.unlock();
        }
    }
}
