// Redisson as a contestant of the benchmark: reads commands line by line on stdin, answers each with a line.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * What every contestant answers is in PROTOCOL.md. This one also knows
 * <pre>
 * open URL?lockWatchdogTimeout=MS CLAIMS
 * hold N                     ok         from now on holds N locks bench:PID:h0, h1, …, renewed by the watchdog
 * wait N NAME                ok         the main thread holds NAME, N threads are asleep in lock() of it
 * free                       done N SECONDS CPU_US P50_US P99_US VIOLATIONS
 *                                       the main thread gives NAME back, each of the N takes it once and gives it
 *                                       back, and ends. SECONDS: from before the first to after the last giving
 *                                       back; P50_US, P99_US: from when one gives back until the next has it.
 * </pre>
 * and adds to stats: connections, threads, cpu_us (of the whole process since its start), heap_bytes (in use after
 * a full collection, which stats runs).
 */
public final class Contestant {
    private RedissonClient client;
    private Claims claims;
    private Crew crew;
    private Holds holds;
    private Waiters waiters;

    public static void main(String[] args) throws IOException {
        Contestant contestant = new Contestant();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            System.out.println(contestant.answer(line.trim().split(" +")));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private String answer(String[] words) {
        try {
            return run(words);
        } catch (Throwable e) { // an Error is an answer, too
            return "error " + (e + "").replaceAll("\\s+", " ");
        }
    }

    private String run(String[] words) throws Throwable {
        switch (words[0]) {
            case "open":
                return open(words[1], words[2]);
            case "crew":
                return start(words[1], Integer.parseInt(words[2]), words[3]);
            case "go":
                return go(Long.parseLong(words[1]));
            case "hold":
                return hold(Integer.parseInt(words[1]));
            case "wait":
                return gather(Integer.parseInt(words[1]), words[2]);
            case "free":
                return waiters.free();
            case "stats":
                return stats();
            default:
                return "error Redisson's contestant knows no " + words[0];
        }
    }

    /** The configuration that users begin with: nothing but the address is set, and what the row is about. */
    private String open(String url, String path) throws IOException {
        String[] parts = url.split("[?]lockWatchdogTimeout=");
        Config config = new Config();
        config.useSingleServer().setAddress(parts[0]).setClientName("redisson-" + Usage.PID);
        if (parts.length > 1) {
            config.setLockWatchdogTimeout(Long.parseLong(parts[1]));
        }
        claims = new Claims(path);
        client = Redisson.create(config);
        holds = new Holds(client);
        return "ok";
    }

    private String start(String kind, int threads, String names) {
        if (crew != null) {
            crew.end();
        }
        crew = null; // should the next not begin, the last must not go on in its stead
        Kinds.Maker maker = Kinds.named(kind);
        Crew next = new Crew();
        boolean one = names.startsWith("one:");
        Set<Integer> words = new HashSet<>();
        for (int i = 0; i < threads; i++) {
            String name = one ? names.substring(4) : "bench:" + Usage.PID + ":" + i;
            while (!words.add(claims.word(name)) && !one) {
                name += "x"; // names that share a word would look like two holders
            }
            next.add(maker.make(client, name), one && kind.equals("read") ? claims.none() : claims.of(name, i));
        }
        crew = next;
        return "ok";
    }

    private String go(long ms) throws Throwable {
        if (crew == null) {
            throw new IllegalStateException("nobody to work");
        }
        return crew.work(ms);
    }

    private String stats() throws IOException {
        return Usage.stats() + (crew == null ? "" : crew.stats());
    }

    private String hold(int count) throws Throwable {
        holds.grow(count);
        return "ok";
    }

    private String gather(int count, String name) throws InterruptedException {
        waiters = new Waiters(client, claims, name);
        waiters.gather(count);
        return "ok";
    }
}
