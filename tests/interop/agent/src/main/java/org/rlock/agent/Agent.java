// Redisson driven from outside: reads commands line by line, answers them.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import static org.rlock.agent.Operations.ms;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A command is {@code <tag> <thread> <kind> <name> <operation> [argument…]}: the Java thread of
 * that name (made when first named, an owner of its own) runs the operation on Redisson's object
 * of that kind and name. {@code <tag> agent <operation> [argument…]} is for the agent itself:
 * {@code open <redis url> [watchdog ms [fair lock wait timeout ms]]}, {@code openFile <path of a
 * Redisson configuration in YAML>}, {@code id}, {@code clock}, {@code asleep <thread>}, {@code close}, {@code leave},
 * {@code exit}. Kinds and their operations: {@link Kinds} and the tables it names.
 *
 * <p>An answer is {@code <tag> <began ns> <ended ns> ok <text>} or
 * {@code <tag> <began ns> <ended ns> threw <class> <message>}. It comes when the operation has
 * ended, so the answers of several threads come in any order; the times are System.nanoTime(),
 * which is CLOCK_MONOTONIC on Linux. Every word is percent-encoded UTF-8.
 *
 * <p>At the end of the commands the JVM stops at once, releasing nothing; but not after {@code leave}, which shuts all clients
 * down, and likewise releases nothing: then {@link Host} may serve the next test.
 */
public final class Agent {
    private final BufferedReader in;
    private final PrintStream out;
    private final Map<String, ExecutorService> threads = new HashMap<>(); // the main thread's alone
    private final Map<String, Thread> owners = new ConcurrentHashMap<>(); // theirs
    private final List<RedissonClient> opened = new ArrayList<>();
    private volatile RedissonClient client;
    private boolean left;

    Agent(InputStream in, OutputStream out) {
        this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
        this.out = new PrintStream(out, true, StandardCharsets.UTF_8);
    }

    public static void main(String[] args) throws IOException {
        String socket = System.getProperty("agent.socket");
        if (socket == null) {
            new Agent(System.in, new FileOutputStream(FileDescriptor.out)).serve();
        } else {
            Host.serve(Path.of(socket));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Whether it ended with {@code leave}. */
    boolean serve() throws IOException {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            command(line);
        }
        return left;
    }

    private void command(String line) {
        String[] words = Arrays.stream(line.split(" ")).map(Agent::decode).toArray(String[]::new);
        String tag = words[0];
        String thread = words[1];
        String[] rest = Arrays.copyOfRange(words, 2, words.length);
        if (thread.equals("agent")) {
            answer(tag, rest, this::onAgent);
        } else {
            owner(thread).execute(() -> answer(tag, rest, this::onObject));
        }
    }

    /** One thread for ever: to Redisson, the thread is the owner. */
    private ExecutorService owner(String name) {
        return threads.computeIfAbsent(name, n -> Executors.newSingleThreadExecutor(r -> {
            Thread thread = new Thread(r, n);
            thread.setDaemon(true);
            owners.put(n, thread);
            return thread;
        }));
    }

    private interface Work {
        Object run(String[] words) throws Exception;
    }

    private void answer(String tag, String[] words, Work work) {
        long began = System.nanoTime();
        String answer;
        try {
            Object result = work.run(words);
            answer = " ok " + encode(result == null ? "" : result.toString());
        } catch (Throwable e) { // also an Error is an answer: the test shows it
            answer = " threw " + encode(e.getClass().getName()) + " " + encode(String.valueOf(e.getMessage()));
        }
        long ended = System.nanoTime();
        synchronized (out) {
            out.println(tag + " " + began + " " + ended + answer);
        }
    }

    private Object onAgent(String[] words) throws IOException {
        switch (words[0]) {
            case "open":
                return use(open(words[1], words.length > 2 ? ms(words[2]) : 0, words.length > 3 ? ms(words[3]) : 0));
            case "openFile":
                return use(openFile(words[1]));
            case "id":
                return client.getId();
            case "clock":
                return System.nanoTime();
            case "asleep":
                return isAsleep(owners.get(words[1]));
            case "close":
                client.shutdown();
                return null;
            case "leave":
                leave();
                return null;
            case "exit":
                Runtime.getRuntime().halt(0);
                return null;
            default:
                throw new IllegalArgumentException("no such operation of the agent: " + words[0]);
        }
    }

    private String use(RedissonClient next) {
        client = next;
        opened.add(next);
        return next.getId();
    }

    /** First the clients, so that a waiter that is interrupted can send nothing more. */
    private void leave() {
        opened.forEach(each -> each.shutdown(0, 0, TimeUnit.SECONDS));
        threads.values().forEach(ExecutorService::shutdownNow);
        left = true;
    }

    private Object onObject(String[] words) throws Exception {
        return Kinds.run(client, words[0], words[1], words[2], Arrays.copyOfRange(words, 3, words.length));
    }

    /** Where Redisson's waiters are parked until a message or the end of a TTL; for answers it waits elsewhere. */
    private static final Set<String> BEDS =
        Set.of("java.util.concurrent.Semaphore", "org.redisson.misc.ReclosableLatch");

    private static boolean isAsleep(Thread thread) {
        boolean bed = false;
        boolean parked = false;
        for (StackTraceElement frame : thread == null ? new StackTraceElement[0] : thread.getStackTrace()) {
            if (frame.getClassName().equals("java.lang.Thread") && frame.getMethodName().equals("sleep")) {
                return true; // a spin lock's
            }
            bed |= BEDS.contains(frame.getClassName());
            parked |= frame.getClassName().equals("java.util.concurrent.locks.LockSupport");
        }
        return bed && parked;
    }

    /** So long that Redisson does not repeat a command whose answer is late: the tests would see both. */
    private static final int ANSWER_MS = 60_000;

    /** Redisson as anybody would have it, but with few threads and idle connections, to start fast. */
    private static RedissonClient open(String url, long watchdogMs, long fairWaitMs) {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE).setThreads(4).setNettyThreads(4);
        if (watchdogMs > 0) {
            config.setLockWatchdogTimeout(watchdogMs);
        }
        if (fairWaitMs > 0) {
            config.setFairLockWaitTimeout(fairWaitMs);
        }
        config.useSingleServer().setAddress(url).setClientName("java").setConnectionMinimumIdleSize(2)
            .setTimeout(ANSWER_MS);
        return Redisson.create(config);
    }

    /** Sentinels, clusters, replicas, TLS: whatever the file says; values are texts, unless it says otherwise. */
    private static RedissonClient openFile(String path) throws IOException {
        Config config = Config.fromYAML(new File(path));
        if (config.getCodec() == null) {
            config.setCodec(StringCodec.INSTANCE);
        }
        return Redisson.create(config);
    }

    private static String decode(String word) {
        return URLDecoder.decode(word, StandardCharsets.UTF_8);
    }

    private static String encode(String word) {
        return URLEncoder.encode(word, StandardCharsets.UTF_8);
    }
}
