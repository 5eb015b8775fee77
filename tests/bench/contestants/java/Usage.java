// What this process uses: CPU, memory, connections; and how that is told.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

final class Usage {
    static final long PID = ProcessHandle.current().pid();
    private static final OperatingSystemMXBean SYSTEM =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private Usage() {
    }

    /** In steps of 10 ms. */
    static long cpuNs() {
        return SYSTEM.getProcessCpuTime();
    }

    static String done(long turns, long ns, long cpuNs, Histogram latencies, long violations) {
        return String.format(Locale.ROOT, "done %d %.6f %d %.2f %.2f %d", turns, ns / 1e9, cpuNs / 1000,
                             latencies.quantileUs(0.5), latencies.quantileUs(0.99), violations);
    }

    static String stats() throws IOException {
        long heap = heapBytes();
        return String.format(Locale.ROOT, "stats rss_bytes=%d connections=%d threads=%d cpu_us=%d heap_bytes=%d",
                             status("RssAnon:") * 1024, sockets(), status("Threads:"), cpuNs() / 1000, heap);
    }

    private static long status(String line) throws IOException {
        for (String read : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (read.startsWith(line)) {
                return Long.parseLong(read.replaceAll("\\D+", ""));
            }
        }
        throw new IOException("no " + line + " in /proc/self/status");
    }

    /** Those beyond stdin, stdout and stderr. */
    private static int sockets() throws IOException {
        int count = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path fd : all) {
                if (Integer.parseInt(fd.getFileName().toString()) > 2 && isSocket(fd)) {
                    count++;
                }
            }
        }
        return count;
    }

    private static boolean isSocket(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString().startsWith("socket:");
        } catch (IOException e) {
            return false; // closed meanwhile, as the one that lists them is
        }
    }

    /** Twice, as what has a finalizer goes at the second collection. */
    private static long heapBytes() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
