// A Peer as a contestant of the benchmark (PROTOCOL.md): reads commands line by line on stdin, answers each with a line.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

public final class PeerContestant {
    private final Peer peer;
    private Claims claims;
    private Crew crew;

    private PeerContestant(Peer peer) {
        this.peer = peer;
    }

    /** The argument is the class of the Peer. */
    public static void main(String[] args) throws Exception {
        Class<?> product = Class.forName("org.rlock.bench." + args[0]);
        PeerContestant contestant = new PeerContestant((Peer) product.getDeclaredConstructor().newInstance());
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
                claims = new Claims(words[2]);
                peer.open(words[1]);
                return "ok";
            case "crew":
                return start(words[1], Integer.parseInt(words[2]), words[3]);
            case "go":
                if (crew == null) {
                    throw new IllegalStateException("nobody to work");
                }
                return crew.work(Long.parseLong(words[1]));
            case "stats":
                return stats();
            default:
                return "error this contestant knows no " + words[0];
        }
    }

    private String start(String kind, int threads, String names) throws Exception {
        if (!kind.equals("lock") && !kind.equals("none")) {
            throw new IllegalArgumentException("there is no kind " + kind);
        }
        if (crew != null) {
            crew.end();
        }
        crew = null; // should the next not begin, the last must not go on in its stead
        Crew next = new Crew();
        boolean one = names.startsWith("one:");
        Set<Integer> words = new HashSet<>();
        for (int i = 0; i < threads; i++) {
            String name = one ? names.substring(4) : "bench:" + Usage.PID + ":" + i;
            while (!words.add(claims.word(name)) && !one) {
                name += "x"; // names that share a claim would look like two holders
            }
            next.add(kind.equals("none") ? Taking.NONE : peer.join(name), claims.of(name, i));
        }
        crew = next;
        return "ok";
    }

    private String stats() throws IOException {
        return Usage.stats() + (crew == null ? "" : crew.stats());
    }
}
