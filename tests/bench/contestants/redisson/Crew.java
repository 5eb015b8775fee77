// A crew: threads that all take turns for a slice of time, and are parked between slices.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.util.ArrayList;
import java.util.List;
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
        private final Kinds.Taking taking;
        private final Claims.Claim claim;
        private final Histogram latencies = new Histogram();
        private long endedNs;

        Worker(Kinds.Taking taking, Claims.Claim claim) {
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
                claim.check();
                taking.give();
                long afterNs = System.nanoTime();
                latencies.add(afterNs - beforeNs);
                beforeNs = afterNs;
            }
        }
    }

    void add(Kinds.Taking taking, Claims.Claim claim) {
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
        Histogram ofSlice = new Histogram();
        for (Worker worker : workers) {
            endedNs = Math.max(endedNs, worker.endedNs);
            violations += worker.claim.violations;
            ofSlice.merge(worker.latencies);
        }
        latencies.merge(ofSlice);
        return Usage.done(ofSlice.total(), endedNs - beganNs, cpuNs, ofSlice, violations);
    }

    /** Of all turns since they were last asked for. */
    String latencies() {
        String text = latencies.toString();
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
