#!/usr/bin/python3
"""redis-py's Lock as a contestant of the benchmark; see PROTOCOL.md."""
# SPDX-License-Identifier: Apache-2.0
import collections
import mmap
import os
import resource
import sys
import threading
import time

import redis

LEASE_S = 30  # as long as Redisson's; everything else is as redis-py has it, also that waiters ask every 100 ms


class Claim:
    """Of one thread (counted from 0) on a name. Python has no atomic exchange: a word is read, then written."""

    def __init__(self, words, name, thread):
        value = 0xCBF29CE484222325
        for octet in name.encode():
            value = (value ^ octet) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        self.words = words
        self.at = value % (len(words) // 2) * 2  # two words: the holder, and the last one
        self.own = os.getpid() << 20 | thread + 1
        self.violations = self.handed = 0

    def enter(self):
        if self.words[self.at] != 0:
            self.violations += 1
        self.words[self.at] = self.own
        last = self.words[self.at + 1]
        if last != self.own:
            self.words[self.at + 1] = self.own
            self.handed += last != 0

    def leave(self):
        if self.words[self.at] != self.own:
            self.violations += 1
        self.words[self.at] = 0


class Worker(threading.Thread):
    """Takes turns while its crew works, and is parked in between."""

    def __init__(self, crew, lock, claim):
        super().__init__(daemon=True)
        self.crew, self.lock, self.claim = crew, lock, claim
        self.latencies_ns, self.waits_ns = [], []  # of this slice
        self.turns = 0  # since they were asked for
        self.ended_ns = 0

    def run(self):
        while True:
            self.crew.start.wait()
            if self.crew.ending:
                return
            try:
                self.take_turns()
            except Exception as e:  # pylint: disable=broad-except
                self.crew.failure = self.crew.failure or e
                self.crew.stop = True
            self.ended_ns = time.monotonic_ns()
            self.crew.parked.wait()

    def take_turns(self):
        lock, claim, crew, add, waited = self.lock, self.claim, self.crew, self.latencies_ns.append, self.waits_ns.append
        before_ns = time.monotonic_ns()
        while not crew.stop:
            lock.acquire()
            waited(time.monotonic_ns() - before_ns)
            claim.enter()
            claim.leave()
            lock.release()
            after_ns = time.monotonic_ns()
            add(after_ns - before_ns)
            before_ns = after_ns


class Crew:
    def __init__(self, threads):
        self.start, self.parked = threading.Barrier(threads + 1), threading.Barrier(threads + 1)
        self.stop = self.ending = False
        self.failure = None
        self.workers = []
        self.waits, self.longest_ns = collections.Counter(), 0  # since they were asked for

    def work(self, ms):
        """What `go` answers."""
        self.stop = False
        for worker in self.workers:
            worker.latencies_ns.clear()
            worker.waits_ns.clear()
            worker.claim.violations = worker.claim.handed = 0
        cpu_before_us, began_ns = cpu_us(), time.monotonic_ns()
        self.start.wait()
        time.sleep(ms / 1000)
        self.stop = True
        self.parked.wait()
        used_us = cpu_us() - cpu_before_us
        if self.failure:
            raise self.failure
        ended_ns = max(worker.ended_ns for worker in self.workers)
        latencies_ns = sorted(ns for worker in self.workers for ns in worker.latencies_ns)
        violations = sum(worker.claim.violations for worker in self.workers)
        handed = sum(worker.claim.handed for worker in self.workers)
        for worker in self.workers:
            worker.turns += len(worker.waits_ns)
            self.waits.update(map(bucket, worker.waits_ns))
            self.longest_ns = max([self.longest_ns, *worker.waits_ns])
        return "done %d %.6f %d %.2f %.2f %d %d" % (
            len(latencies_ns), (ended_ns - began_ns) / 1e9, used_us,
            quantile_us(latencies_ns, 0.5), quantile_us(latencies_ns, 0.99), violations, handed)

    def stats(self):
        """What `stats` says of all turns since it was last asked for."""
        text = " longest_us=%.1f contenders=%s waits=%s" % (
            self.longest_ns / 1000, ",".join(str(worker.turns) for worker in self.workers),
            ",".join(f"{at}:{count}" for at, count in self.waits.items()))
        self.waits, self.longest_ns = collections.Counter(), 0
        for worker in self.workers:
            worker.turns = 0
        return text

    def end(self):
        self.ending = True
        self.start.wait()


def bucket(ns):
    """As support/histogram.h has them."""
    shift = max(0, ns.bit_length() - 6)
    return (shift << 5) + (ns >> shift)


class NoLock:
    """The kind "none": turns without a lock, which the check for violations has to catch."""

    def acquire(self):
        pass

    def release(self):
        pass


def cpu_us():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return round((usage.ru_utime + usage.ru_stime) * 1e6)


def quantile_us(sorted_ns, share):
    return sorted_ns[min(len(sorted_ns) - 1, int(share * len(sorted_ns)))] / 1000 if sorted_ns else 0


def is_socket(fd):
    try:
        return os.readlink("/proc/self/fd/" + fd).startswith("socket:")
    except FileNotFoundError:
        return False  # closed meanwhile, as the one that lists them is


class Contestant:
    def __init__(self):
        self.client = self.words = self.crew = None

    def open(self, url, claims):
        with open(claims, "r+b") as file:
            self.words = memoryview(mmap.mmap(file.fileno(), 0)).cast("Q")
        self.client = redis.Redis.from_url(url, client_name=f"redis-py-{os.getpid()}")
        self.client.ping()
        return "ok"

    def start(self, kind, threads, names):
        if self.crew:
            self.crew.end()
            self.crew = None
        if kind not in ("lock", "none"):
            raise ValueError("redis-py has no kind " + kind)
        crew = Crew(threads)
        for i in range(threads):
            name = names[4:] if names.startswith("one:") else "bench:%d:%d" % (os.getpid(), i)
            lock = self.client.lock(name, timeout=LEASE_S) if kind == "lock" else NoLock()
            crew.workers.append(Worker(crew, lock, Claim(self.words, name, i)))
        for worker in crew.workers:
            worker.start()
        self.crew = crew
        return "ok"

    def stats(self):
        with open("/proc/self/status", encoding="ascii") as file:
            rss_kib = next(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))
        connections = sum(int(fd) > 2 and is_socket(fd) for fd in os.listdir("/proc/self/fd"))
        return "stats rss_bytes=%d connections=%d threads=%d cpu_us=%d" % (
            rss_kib * 1024, connections, threading.active_count(), cpu_us()) + (self.crew.stats() if self.crew else "")

    def answer(self, words):
        match words:
            case ["open", url, claims]:
                return self.open(url, claims)
            case ["crew", kind, threads, names]:
                return self.start(kind, int(threads), names)
            case ["go", ms]:
                if not self.crew:
                    raise ValueError("nobody to work")
                return self.crew.work(int(ms))
            case ["stats"]:
                return self.stats()
        raise ValueError("redis-py's contestant knows no " + " ".join(words))


def main():
    contestant = Contestant()
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        try:
            print(contestant.answer(words), flush=True)
        except Exception as e:  # pylint: disable=broad-except
            print("error", type(e).__name__, " ".join(str(e).split()), flush=True)
    os._exit(0)  # whoever still waits for a lock is not waited for


main()
