#!/usr/bin/python3
"""serve.py PRODUCT ARGUMENT…: runs a server of its own for a contestant, on loopback and without persistence, and answers
line by line: `open …` with `ok` once it serves, `where` with `where PID URL UNIX-URL` (- : it has none), `count KEY` with
`count N`: how many locks the server says were given back, by all contestants together (those with that URL's KEY). Ends with
its input, and its server and files with it.

  postgresql FOLDER-OF-PROGRAMS    memcached PROGRAM    etcd PROGRAM    zookeeper CLASSPATH    hazelcast CLASSPATH"""
# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

START_S = 60
PR_SET_PDEATHSIG = 1


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, request, end):
    """A question in text, and the answer up to `end` or the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
        link.sendall(request)
        answer = b""
        while end not in answer:
            part = link.recv(65536)
            if not part:
                break
            answer += part
    return answer.decode()


def text_after(pattern, text):
    found = re.search(pattern, text, re.M)
    if not found:
        raise ValueError(f"the server does not say {pattern}")
    return found.group(1)


def number(pattern, text, base=10):
    return int(text_after(pattern, text), base)


class Server:
    user = None  # that it runs as, when this is root
    ends_by = signal.SIGKILL

    def __init__(self):
        memory = "/dev/shm"  # for servers that have to write files
        self.folder = tempfile.mkdtemp(prefix="rlock-bench.", dir=memory if os.access(memory, os.W_OK) else None)
        self.port = free_port()
        self.process = None

    def account(self):
        if self.user is None or os.getuid() != 0:
            return None
        for name in (self.user, "nobody"):
            try:
                return pwd.getpwnam(name)
            except KeyError:
                continue
        return None

    def words(self, command):
        """The command with a prefix: it runs as the user, and ends when this process does."""
        account = self.account()
        as_user = [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"] if account else []
        return ["setpriv", *as_user, "--pdeathsig", "KILL", *command]

    def run(self, command, **options):
        log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(self.words(command), stdin=options.get("stdin", subprocess.DEVNULL),
                                        stdout=options.get("stdout", log), stderr=log, cwd=self.folder)

    def await_port(self):
        end = time.monotonic() + START_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("it does not start: " + self.last_words()) from None
                time.sleep(0.02)

    def await_count(self):
        """The port may be open before the server serves."""
        end = time.monotonic() + START_S
        while True:
            try:
                self.count("tcp")
                return
            except (OSError, ValueError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def last_words(self):
        with open(os.path.join(self.folder, "log"), "rb") as log:
            return " ".join(log.read()[-300:].decode(errors="replace").split())

    def start(self):
        raise NotImplementedError

    def where(self):
        return f"{self.process.pid} {self.url()} {self.unix_url()}"

    def unix_url(self):
        return "-"

    def stop(self):
        if self.process:
            self.process.send_signal(self.ends_by)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgreSQL(Server):
    user = "postgres"
    ends_by = signal.SIGINT  # with its backends

    def __init__(self, programs):
        super().__init__()
        self.programs = programs

    def program(self, name):
        return os.path.join(self.programs, name)

    def start(self):
        account = self.account()
        if account:
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        data = os.path.join(self.folder, "data")
        made = subprocess.run(self.words([self.program("initdb"), "-D", data, "-U", "bench", "-A", "trust", "-N",
                                          "--no-locale", "-E", "UTF8"]), capture_output=True, text=True, cwd=self.folder)
        if made.returncode:
            raise RuntimeError("initdb: " + " ".join(made.stderr.split()))
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.folder,
                    "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": 300,
                    "autovacuum": "off", "logging_collector": "off"}
        self.run([self.program("postgres"), "-D", data] + [w for k, v in settings.items() for w in ("-c", f"{k}={v}")])
        self.await_port()
        end = time.monotonic() + START_S
        while subprocess.run([self.program("pg_isready"), "-h", self.folder, "-p", str(self.port), "-q"]).returncode:
            if time.monotonic() > end:
                raise RuntimeError("it is not ready: " + self.last_words())
            time.sleep(0.02)
        for name in ("tcp", "unix"):  # one database for each way to it, as transactions are counted for each
            self.ask("postgres", f"create database {name}")

    def url(self):
        return f"postgresql://bench@127.0.0.1:{self.port}/tcp"

    def unix_url(self):
        return f"postgresql:///unix?host={self.folder}&port={self.port}&user=bench"

    def ask(self, database, query):
        asked = subprocess.run([self.program("psql"), "-h", self.folder, "-p", str(self.port), "-U", "bench", "-Atqc", query,
                                database], capture_output=True, text=True, env=dict(os.environ, PGCONNECT_TIMEOUT="10"))
        if asked.returncode:
            raise RuntimeError(" ".join(asked.stderr.split()))
        return asked.stdout.strip()

    def count(self, key):
        """Waits until the contestants' connections have ended, since each adds its count then. A pair is two transactions."""
        end = time.monotonic() + 10
        while int(self.ask("postgres", f"select count(*) from pg_stat_activity where datname = '{key}'")):
            if time.monotonic() > end:
                break
            time.sleep(0.02)
        return int(self.ask("postgres", f"select xact_commit from pg_stat_database where datname = '{key}'")) // 2


class Memcached(Server):
    user = "nobody"

    def __init__(self, program):
        super().__init__()
        self.program = program

    def start(self):
        self.run([self.program, "-l", "127.0.0.1", "-p", str(self.port), "-U", "0", "-m", "64", "-c", "1024"])
        self.await_port()

    def url(self):
        return f"memcached://127.0.0.1:{self.port}"

    def count(self, _):
        return number(r"^STAT delete_hits (\d+)", ask(self.port, b"stats\r\n", b"END\r\n"))


class Etcd(Server):
    def __init__(self, program):
        super().__init__()
        self.program = program

    def start(self):
        own, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        self.run([self.program, "--data-dir", os.path.join(self.folder, "data"), "--listen-client-urls", own,
                  "--advertise-client-urls", own, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                  "--initial-cluster", f"default={peer}", "--log-level", "error"])
        self.await_port()
        self.await_count()

    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def count(self, _):
        with urllib.request.urlopen(self.url() + "/metrics", timeout=10) as answer:
            text = answer.read().decode()
        return int(float(text_after(r"^etcd_debugging_mvcc_delete_total (\S+)", text)))


class ZooKeeper(Server):
    def __init__(self, classpath):
        super().__init__()
        self.classpath = classpath

    def start(self):
        config = os.path.join(self.folder, "zoo.cfg")
        with open(config, "w", encoding="ascii") as file:
            file.write(f"tickTime=2000\ndataDir={self.folder}/data\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
                       "maxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n")
        self.run(["java", "-Dzookeeper.forceSync=no", "-Dzookeeper.snapCount=10000000", "-cp", self.classpath,
                  "org.apache.zookeeper.server.ZooKeeperServerMain", config])
        self.await_port()
        self.await_count()

    def url(self):
        return f"127.0.0.1:{self.port}"

    def count(self, _):
        """A pair is two writes: one creates a node, one deletes it."""
        return (number(r"^Zxid: 0x([0-9a-f]+)", ask(self.port, b"srvr", b"\0"), 16) & 0xFFFFFFFF) // 2


class Hazelcast(Server):
    """One member, org.rlock.bench.Member, which counts the operations that it has executed: two for a pair, or more."""

    def __init__(self, classpath):
        super().__init__()
        self.classpath = classpath

    def start(self):
        opens = [f"--add-opens={each}=ALL-UNNAMED" for each in ("java.base/java.nio", "java.base/sun.nio.ch", "java.base/java.lang")]
        self.run(["java", *opens, "-cp", self.classpath, "org.rlock.bench.Member", str(self.port)], stdin=subprocess.PIPE,
                 stdout=subprocess.PIPE)
        if self.process.stdout.readline().strip() != b"ready":
            raise RuntimeError("it does not start: " + self.last_words())

    def url(self):
        return f"127.0.0.1:{self.port}"

    def count(self, _):
        self.process.stdin.write(b"count\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()) // 2


PRODUCTS = {"postgresql": PostgreSQL, "memcached": Memcached, "etcd": Etcd, "zookeeper": ZooKeeper, "hazelcast": Hazelcast}


def answer(server, words):
    if words[0] == "open":
        server.start()
        return "ok"
    if words[0] == "where":
        return "where " + server.where()
    if words[0] == "count":
        return f"count {server.count(words[1])}"
    raise ValueError("a server knows no " + " ".join(words))


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in PRODUCTS:
        sys.exit(__doc__)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, 0)  # the end of the input is enough, and leaves time to clean up
    for interrupt in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(interrupt, signal.SIG_IGN)
    server = PRODUCTS[sys.argv[1]](sys.argv[2])
    try:
        for line in sys.stdin:
            try:
                said = answer(server, line.split())
            except Exception as e:  # pylint: disable=broad-except
                said = f"error {type(e).__name__} " + " ".join(str(e).split())
            print(said, flush=True)
    except BrokenPipeError:
        pass
    finally:
        server.stop()


main()
