#!/usr/bin/python3
"""redis-py's Lock beside the tests, told what to do line by line (tests/interop/support/agent.h)."""
# SPDX-License-Identifier: Apache-2.0
# A command is: tag thread operation arguments… Each thread of the commands is one of Python's, with a Lock of its own for
# each name, so that tokens are the threads' own, as redis-py has it by default.
import queue
import sys
import threading
import time
import urllib.parse

import redis

output = threading.Lock()
servers = {}


def say(tag, began_ns, *words):
    text = " ".join([tag, str(began_ns), str(time.monotonic_ns())] + [urllib.parse.quote_plus(word) or "" for word in words])
    with output:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


class Thread(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.commands = queue.Queue()
        self.locks = {}

    def run(self):
        while True:
            tag, words = self.commands.get()
            began_ns = time.monotonic_ns()
            try:
                say(tag, began_ns, "ok", str(self.do(*words)))
            except Exception as e:  # pylint: disable=broad-except
                say(tag, began_ns, "threw", type(e).__name__, str(e))

    def lock(self, name):
        return self.locks[name]

    def do(self, operation, *words):
        return getattr(self, operation)(*words)

    def open(self, url):
        servers["one"] = redis.Redis.from_url(url)
        return servers["one"].ping()

    def acquire(self, name, lease_ms, wait_ms):  # '' for none
        self.locks[name] = servers["one"].lock(name, timeout=int(lease_ms) / 1000 if lease_ms else None)
        wait_s = int(wait_ms) / 1000 if wait_ms else None
        return self.locks[name].acquire(blocking_timeout=wait_s)

    def release(self, name):
        return self.lock(name).release()

    def extend(self, name, ms, replaces):
        return self.lock(name).extend(int(ms) / 1000, replace_ttl=replaces == "replace")

    def reacquire(self, name):
        return self.lock(name).reacquire()

    def owned(self, name):
        return self.lock(name).owned()


def main():
    threads = {}
    for line in sys.stdin:
        tag, thread, *words = [urllib.parse.unquote(word) for word in line.rstrip("\n").split(" ")]
        if thread not in threads:
            threads[thread] = Thread()
            threads[thread].start()
        threads[thread].commands.put((tag, words))


main()
