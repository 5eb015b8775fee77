// A histogram of latencies, exact to 3 %: 32 buckets for each power of two of nanoseconds.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

final class Histogram {
    private static final int FINE = 5;

    private final long[] counts = new long[(64 - FINE + 1) << FINE];
    private long total;

    private static int bucket(long ns) {
        if (ns < 1 << FINE) {
            return (int) ns;
        }
        int shift = 63 - Long.numberOfLeadingZeros(ns) - FINE;
        return (shift << FINE) + (int) (ns >> shift);
    }

    /** The middle of a bucket, in ns. */
    private static double middleNs(int bucket) {
        int row = bucket >> FINE;
        if (row == 0) {
            return bucket;
        }
        int shift = row - 1; // the first two rows are both one ns wide
        return ((long) (bucket - (shift << FINE)) << shift) + (1L << shift) / 2.0;
    }

    void add(long ns) {
        counts[bucket(ns)]++;
        total++;
    }

    void merge(Histogram other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
        total += other.total;
    }

    void clear() {
        Arrays.fill(counts, 0);
        total = 0;
    }

    /** BUCKET:COUNT,BUCKET:COUNT… of those that are not empty. */
    @Override
    public String toString() {
        return IntStream.range(0, counts.length).filter(i -> counts[i] > 0).mapToObj(i -> i + ":" + counts[i])
            .collect(Collectors.joining(","));
    }

    long total() {
        return total;
    }

    /** The latency that such a share of all stay within; 0 when there are none. */
    double quantileUs(double share) {
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen > 0 && seen >= share * total) {
                return middleNs(i) / 1000;
            }
        }
        return 0;
    }
}
