#!/usr/bin/python3
"""Stands for python-redis-lock 4.0.1, told what to do line by line (tests/interop/support/agent.h)."""
# SPDX-License-Identifier: Apache-2.0
# Debian has no package of python-redis-lock. So this is a client of the tests that does what that library's version 4.0.1
# does on the server, as docs/signal-lock.md describes it: the same keys, values, times and order of commands. Its code is
# not that library's.
# A command is: tag thread operation arguments… Each thread of the commands is one of Python's, with a lock of its own for
# each name. Numbers are whole seconds, as that library takes them; '' stands for none.
import base64
import os
import queue
import sys
import threading
import time
import urllib.parse

import redis

SIGNAL_LIVES_MS = 1000

# KEYS: the lock, the list. ARGV: how long the signal lives, the token.
SIGNAL_AND_FREE = """
redis.call('del', KEYS[2])
redis.call('lpush', KEYS[2], 1)
redis.call('pexpire', KEYS[2], ARGV[1])
redis.call('del', KEYS[1])
return 'done'
"""
UNLESS_OWN = "if redis.call('get', KEYS[1]) ~= ARGV[2] then return 'not acquired' end\n"
# ARGV: seconds, the token.
EXTEND = """
if redis.call('ttl', KEYS[1]) < 0 then return 'not expirable' end
redis.call('expire', KEYS[1], ARGV[1])
return 'done'
"""

output = threading.Lock()
servers = {}


class AlreadyAcquired(RuntimeError):
    pass


class NotAcquired(RuntimeError):
    pass


class NotExpirable(RuntimeError):
    pass


class SignalLock:
    def __init__(self, server, name):
        self.server = server
        self.keys = ["lock:" + name, "lock-signal:" + name]
        self.token = base64.b64encode(os.urandom(18)).decode()
        self.expire_s = None

    def owned(self):
        return self.server.get(self.keys[0]) == self.token.encode()

    def acquire(self, expire_s, timeout_s):
        """timeout_s: how long one BLPOP waits; None: for ever, or expire_s; 0: no BLPOP."""
        if self.owned():
            raise AlreadyAcquired("this lock object has it")
        self.expire_s = expire_s
        block_s = timeout_s or expire_s or 0
        late = False
        while not self.server.set(self.keys[0], self.token, nx=True, ex=expire_s):
            if timeout_s == 0 or late:
                return False
            signal = self.server.blpop(self.keys[1], block_s)
            late = signal is None and timeout_s is not None  # without a timeout: once more
        return True

    def run(self, script, *arguments):
        answer = self.server.register_script(script)(keys=self.keys, args=arguments).decode()
        if answer == "not acquired":
            raise NotAcquired("another token stands there, or none")
        if answer == "not expirable":
            raise NotExpirable("the lock has no time to live")

    def release(self):
        self.run(UNLESS_OWN + SIGNAL_AND_FREE, SIGNAL_LIVES_MS, self.token)

    def extend(self, more_s):
        self.run(UNLESS_OWN + EXTEND, more_s or self.expire_s, self.token)

    def reset(self):
        self.run(SIGNAL_AND_FREE, SIGNAL_LIVES_MS)


def say(tag, began_ns, *words):
    text = " ".join([tag, str(began_ns), str(time.monotonic_ns())] + [urllib.parse.quote_plus(word) for word in words])
    with output:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def seconds(word):
    return int(word) if word else None


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

    def do(self, operation, *words):
        return getattr(self, operation)(*words)

    def lock(self, name):
        if name not in self.locks:
            self.locks[name] = SignalLock(servers["one"], name)
        return self.locks[name]

    def open(self, url):
        servers["one"] = redis.Redis.from_url(url)
        return servers["one"].ping()

    def acquire(self, name, expire_s, timeout_s):
        return self.lock(name).acquire(seconds(expire_s), seconds(timeout_s))

    def release(self, name):
        self.lock(name).release()
        return ""

    def extend(self, name, more_s):
        self.lock(name).extend(seconds(more_s))
        return ""

    def reset(self, name):
        self.lock(name).reset()
        return ""

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
