// A crew: threads that all take turns for a slice of time, and are parked between slices.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicReference;

final class Crew {
    private final List<Worker> workers = new ArrayList<>();
    private final Phaser start = new Phaser(1); // one party a worker, and the main thread
    private final Phaser parked = new Phaser(1);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final Histogram latencies = new Histogram(); // since they were asked for
    private volatile boolean stop;
    private volatile boolean ending;

    private final class Worker extends Thread {
        private final Taking taking;
        private final Claims.Claim claim;
        private final Histogram latencies = new Histogram(); // of this slice
        private long endedNs;
        /* since they were asked for */
        private final Histogram waits = new Histogram();
        private long longestNs;
        private long turns;

        Worker(Taking taking, Claims.Claim claim) {
            this.taking = taking;
            this.claim = claim;
            setDaemon(true);
        }

        @Override
        public void run() {
            for (start.arriveAndAwaitAdvance(); !ending; start.arriveAndAwaitAdvance()) {
                try {
                    takeTurns();
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                    stop = true;
                }
                endedNs = System.nanoTime();
                parked.arrive();
            }
        }

        private void takeTurns() throws Exception {
            long beforeNs = System.nanoTime();
            while (!stop) {
                taking.take();
                long waitedNs = System.nanoTime() - beforeNs;
                waits.add(waitedNs);
                longestNs = Math.max(longestNs, waitedNs);
                claim.check();
                taking.give();
                turns++;
                long afterNs = System.nanoTime();
                latencies.add(afterNs - beforeNs);
                beforeNs = afterNs;
            }
        }
    }

    void add(Taking taking, Claims.Claim claim) {
        Worker worker = new Worker(taking, claim);
        workers.add(worker);
        start.register();
        parked.register();
        worker.start();
    }

    /** All take turns for so long, and each ends its last one: what `go` answers. */
    String work(long ms) throws Throwable {
        stop = false;
        for (Worker worker : workers) {
            worker.latencies.clear();
            worker.claim.violations = 0;
            worker.claim.handed = 0;
        }
        long cpuBeforeNs = Usage.cpuNs();
        long beganNs = System.nanoTime();
        start.arriveAndAwaitAdvance();
        Thread.sleep(ms);
        stop = true;
        parked.arriveAndAwaitAdvance();
        long cpuNs = Usage.cpuNs() - cpuBeforeNs;
        if (failure.get() != null) {
            throw failure.get();
        }
        long endedNs = beganNs;
        long violations = 0;
        long handed = 0;
        Histogram ofSlice = new Histogram();
        for (Worker worker : workers) {
            endedNs = Math.max(endedNs, worker.endedNs);
            violations += worker.claim.violations;
            handed += worker.claim.handed;
            ofSlice.merge(worker.latencies);
        }
        latencies.merge(ofSlice);
        return Usage.done(ofSlice.total(), endedNs - beganNs, cpuNs, ofSlice, violations) + " " + handed;
    }

    /** What `stats` says of all turns since it was last asked for. */
    String stats() {
        Histogram waits = new Histogram();
        long longestNs = 0;
        StringJoiner turns = new StringJoiner(",");
        for (Worker worker : workers) {
            waits.merge(worker.waits);
            longestNs = Math.max(longestNs, worker.longestNs);
            turns.add(Long.toString(worker.turns));
            worker.waits.clear();
            worker.longestNs = 0;
            worker.turns = 0;
        }
        String text = String.format(Locale.ROOT, " latencies=%s longest_us=%.1f contenders=%s waits=%s", latencies,
                                    longestNs / 1e3, turns, waits);
        latencies.clear();
        return text;
    }

    /** It is parked, and goes; what it left in Redis goes, too. */
    void end() {
        workers.forEach(worker -> worker.taking.end());
        ending = true;
        start.arriveAndDeregister();
    }
}
