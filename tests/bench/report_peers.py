"""The part of report.py about other products: what a program could lock with instead of rlock."""
# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess

GROUPS = ("peers-own", "peers-one", "peers-processes", "peers-fair")

NAMES = {"rlock_async": "rlock, async", "hiredis": "plain hiredis", "postgresql": "PostgreSQL", "zookeeper": "ZooKeeper",
         "hazelcast": "Hazelcast", "redisson": "Redisson"}

WHO = {
    "rlock_async": "rlock's async calls, in one thread",
    "hiredis": "a C program with hiredis: `SET NX PX` takes the lock, a script that compares and deletes gives it back; one "
               "connection a thread; a waiter asks again after 0.5 to 1.5 ms",
    "postgresql": "PostgreSQL's `pg_advisory_lock` and `pg_advisory_unlock`: libpq, prepared statements, one connection a thread; "
                  "the server grants in the order of the requests",
    "memcached": "memcached's `add` and `delete`: libmemcached, one connection a thread; a waiter asks again after 0.5 to 1.5 ms",
    "hazelcast": "Hazelcast 5.5.0, `IMap.lock`: one Java client a process, one member",
    "zookeeper": "ZooKeeper 3.9.2, Curator's `InterProcessMutex`: one Java client a process, one server",
    "etcd": "etcd 3.4 of Debian, its lock service through jetcd: one Java client a process, one server",
}

# What makes the other product look better than it is beside rlock, and what makes it look worse.
UNFAIR = {
    "hiredis": ("Nothing renews its lease: work that takes longer than 30 s loses the lock without notice. A waiter polls, so the "
                "last holder mostly takes the lock again and the others starve. It is not reentrant, and Java does not know it.",
                "It waits for each answer on a connection a thread; a better program would pipeline, as rlock does."),
    "postgresql": ("Its locks have no lease, so there is nothing to renew: a holder that hangs keeps the lock for ever. Each contender "
                   "takes a connection and a server process of some megabytes. A failover loses all locks.",
                   "It runs a statement in a transaction for each request, looks for deadlocks, and knows at once when a holder's "
                   "process has ended, where rlock waits for the end of the lease. fsync is off, but an advisory lock writes "
                   "nothing."),
    "memcached": ("`delete` does not compare: a holder whose lease has ended deletes the lock of the next one. Nothing renews, a waiter "
                  "polls, and a full cache may evict a lock.",
                  "It waits for each answer on a connection a thread."),
    "redlock": ("One server instead of five. Nothing renews, and a waiter asks every 200 ms or so: under contention the others starve.",
                "JavaScript has one thread, which does all the work of its loops; it pipelines them, as rlock does."),
    "redis-py": ("Nothing renews, and a waiter asks every 100 ms: under contention the others starve.",
                 "Python runs one thread at a time."),
    "redisson": ("Its JVM has been warmed up.", "It needs more memory and connections than its locks do, for what else it offers."),
    "hazelcast": ("One member: no backup of a lock, which a cluster of several makes before it answers.",
                  "Its client is in Java. A lock has no lease, and is given back when the client's connection ends."),
    "zookeeper": ("One server, which does not sync its log to the disk: three or five wait for the disks of a majority.",
                  "A lock survives the loss of servers, and its session ends soon after its process; zxids are fencing tokens. No "
                  "Redis server gives that, whatever client it has."),
    "etcd": ("One server, with its log in memory: three or five wait for the disks of a majority.",
             "As ZooKeeper: consensus, sessions and revisions that are fencing tokens. Version 3.4 tells contended waiters with a delay "
             "of up to 100 ms; later versions may not."),
}

ORDER = ("rlock", "rlock_async", "hiredis", "memcached", "postgresql", "redlock", "redis-py", "redisson", "hazelcast", "zookeeper", "etcd")

# The columns of the overview: group, what, threads, processes in all, whether turns handed on are what counts.
OVERVIEW = (
    ("own names, 1 thread", "peers-own", "own names", 1, False),
    ("8 threads", "peers-own", "own names", 8, False),
    ("64 threads", "peers-own", "own names", 64, False),
    ("one name, 8 threads", "peers-one", "one name, threads of one process", 8, True),
    ("8 processes", "peers-processes", "one name, processes", 8, True),
    ("32 processes", "peers-processes", "one name, processes", 32, True),
    ("128 processes", "peers-processes", "one name, processes", 128, True),
)


def is_peer(row):
    return row.get("group") in GROUPS


def contenders(row):
    return (row.get("threads") or 1) * (row.get("processes") or 1)


def name_of(row):
    name = NAMES.get(row["who"], row["who"])
    return f"{name}, {row['kind']} lock" if row.get("kind") in ("fair", "token") and row["who"] == "rlock" else name


def of_column(rows, column):
    """The products' rows of a column of the overview."""
    _, group, what, count, _ = column
    return {row["who"]: row for row in rows if row.get("group") == group and row["what"] == what and contenders(row) == count}


def speed(row, handed):
    return row.get("handed_per_s" if handed else "per_s")


def thousands(number):
    return f"{number / 1000:.1f} k" if number >= 100 else f"{number:.0f}"


def overview(rows, table):
    columns = [(column, of_column(rows, column)) for column in OVERVIEW]
    present = [who for who in ORDER if any(who in of for _, of in columns)]
    best = [max((speed(row, column[4]) or 0 for row in of.values()), default=0) for column, of in columns]
    shown = [("", lambda who: NAMES.get(who, who), False)]
    for (column, of), most in zip(columns, best):
        def text(who, of=of, handed=column[4], most=most):
            if who not in of:
                return ""
            value = thousands(speed(of[who], handed) or 0)
            return f"**{value}**" if speed(of[who], handed) == most else value
        shown.append((column[0], text, True))

    def cost(who, of):
        row = of.get(who)
        if not row or not row.get("handed_per_s"):
            return ""
        return f"{((row.get('cpu_us') or 0) + (row.get('server_cpu_us') or 0)) * row['per_s'] / row['handed_per_s']:,.0f} µs"

    def longest(who, of):
        row = of.get(who)
        return f"{row['longest_us'] / 1000:,.0f} ms" if row and row.get("longest_us") else ""
    crowd = next((of for column, of in columns if column[0] == "8 processes"), {})
    shown += [("8 processes: longest wait", lambda who: longest(who, crowd), True),
              ("CPU a turn handed on", lambda who: cost(who, crowd), True)]
    return table(shown, present) if present else ""


def details(rows, table, figure, whole, ratio, verdict):
    several = len({row["what"] for row in rows}) > 1
    columns = [
        ("", lambda row: row["what"] if several else "", False),
        ("threads", lambda row: whole(row.get("threads")), True),
        ("processes", lambda row: whole(row["processes"]) if (row.get("processes") or 1) > 1 else "", True),
        ("", name_of, False),
        ("pairs a second", lambda row: whole(row.get("per_s")), True),
        ("handed on", lambda row: whole(row.get("handed_per_s")) if row["what"].find("one name") >= 0 else "", True),
        ("rlock makes", lambda row: (ratio(row, "rlock") + " ×") if row.get("ratio_rlock") else "", True),
        ("wait p50, µs", lambda row: figure(row.get("wait_p50_us")), True),
        ("p99, µs", lambda row: figure(row.get("wait_p99_us")), True),
        ("longest, µs", lambda row: whole(row.get("longest_us")), True),
        ("least and most lucky", lambda row: f"{row['least']:.2f} – {row['most']:.2f}"
            if row.get("most") and contenders(row) > 1 else "", True),
        ("client CPU, µs a pair", lambda row: figure(row.get("cpu_us")), True),
        ("server CPU", lambda row: figure(row.get("server_cpu_us")), True),
        ("connections", lambda row: whole(row.get("connections")), True),
        ("target", lambda row: row.get("target") or "", False),
        ("", verdict, False),
    ]
    return table(columns, rows)


def unfair(rows, table):
    present = {row["who"] for row in rows}
    return table([("", lambda who: NAMES.get(who, who), False),
                  ("looks better than it is, since", lambda who: UNFAIR[who][0], False),
                  ("looks worse than it is, since", lambda who: UNFAIR[who][1], False)],
                 [who for who in ORDER if who in present and who in UNFAIR])


COLOURS = {"rlock": "#c0392b", "hiredis": "#7f8c8d", "memcached": "#ca6f1e", "postgresql": "#2471a3", "redlock": "#1e8449",
           "redis-py": "#b7950b", "redisson": "#6c3483", "hazelcast": "#148f77", "zookeeper": "#5d6d7e", "etcd": "#17202a"}


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def gnuplot(lines):
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True)


def bars(rows, path, title, columns):
    """Draws a group of bars for each column, with one bar for each product in the order of the table."""
    found = [(column, of_column(rows, column)) for column in OVERVIEW if column[0] in columns]
    found = [(columns[column[0]], column, of) for column, of in found if of]
    present = [who for who in ORDER if any(who in of for _, _, of in found)]
    if not present:
        return False
    lines = ["set terminal svg size 760,360 font 'sans-serif,13' background '#ffffff'", f"set output {quoted(path)}",
             f"set title {quoted(title)} noenhanced", "set style data histograms", "set style histogram clustered gap 1.5",
             "set style fill solid 0.9 border -1", "set boxwidth 0.9", "set grid ytics lt 1 lw 0.5 lc '#cccccc'",
             "set border 3 lc '#555555'; set tics nomirror; set yrange [0:*]; set format y '%.0s%c'",
             "set key outside right noenhanced"]
    plots, data = [], []
    for who in present:
        plots.append(f"'-' using 2:xtic(1) lc {quoted(COLOURS.get(who, '#000000'))} title {quoted(NAMES.get(who, who))}")
        for label, column, of in found:
            data.append(f"\"{label}\" {(speed(of[who], column[4]) or 0) if who in of else 0}")
        data.append("e")
    gnuplot(lines + ["plot " + ", ".join(plots)] + data)
    return True


def curves(rows, path, title, y_title, y, log):
    """Draws y over the number of processes on one name."""
    lines = {}
    for row in rows:
        if row.get("group") == "peers-processes" and row["what"] == "one name, processes" and (row.get("threads") or 1) == 1:
            if y(row):
                lines.setdefault(row["who"], []).append((row["processes"], y(row)))
    lines = {who: sorted(points) for who, points in lines.items() if len(points) > 1}
    if not lines:
        return False
    xs = sorted({x for points in lines.values() for x, _ in points})
    script = ["set terminal svg size 760,360 font 'sans-serif,13' background '#ffffff'", f"set output {quoted(path)}",
              f"set title {quoted(title)} noenhanced", "set xlabel 'processes'", f"set ylabel {quoted(y_title)} noenhanced",
              "set grid lt 1 lw 0.5 lc '#cccccc'; set border 3 lc '#555555'; set tics nomirror",
              "set key outside right noenhanced; set format y '%.0s%c'; set logscale x 2",
              "set xtics (" + ", ".join(f"'{x}' {x}" for x in xs) + ")", f"set xrange [{xs[0] / 1.15}:{xs[-1] * 1.15}]",
              "set logscale y; set mytics 10" if log else "set yrange [0:*]"]
    plots, data = [], []
    for who in (who for who in ORDER if who in lines):
        plots.append(f"'-' with linespoints lw 2 pt 7 ps 0.7 lc {quoted(COLOURS.get(who, '#000000'))} title {quoted(NAMES.get(who, who))}")
        data += [f"{x} {value}" for x, value in lines[who]] + ["e"]
    gnuplot(script + ["plot " + ", ".join(plots)] + data)
    return True


def pictures(rows, folder):
    if not shutil.which("gnuplot"):
        return []
    wanted = (
        ("peers-own-names", "Each thread locks a name of its own: pairs a second", lambda path, title:
            bars(rows, path, title, {"own names, 1 thread": "1 thread", "8 threads": "8 threads", "64 threads": "64 threads"})),
        ("peers-one-name", "All lock one name: turns handed on a second", lambda path, title:
            bars(rows, path, title, {"one name, 8 threads": "8 threads", "8 processes": "8 processes", "32 processes": "32 processes",
                                     "128 processes": "128 processes"})),
        ("peers-processes", "Processes that all lock one name: turns handed on a second", lambda path, title:
            curves(rows, path, title, "handed on a second", lambda row: row.get("handed_per_s"), False)),
        ("peers-waits", "Processes that all lock one name: the wait that 99 of 100 stay within", lambda path, title:
            curves(rows, path, title, "p99 of the wait, ms", lambda row: (row.get("wait_p99_us") or 0) / 1000, True)),
    )
    found = []
    for name, title, draw in wanted:
        if draw(folder / f"{name}.svg", title):
            found.append(f"![{title}]({folder.name}/{name}.svg)\n")
    return found


ABOUT = """\
The same work with what a program could take instead, each with its usual client on a server on this machine, all in one run
and slice by slice in turn. *Own names*: nobody waits, and pairs of lock and unlock a second count. *One name*: all want the
same lock, and the **turns handed on** a second count, those that went to another contender than the one before: a program
that polls gives the lock mostly to its last holder, which looks fast while the others starve. Bold is the most.
"""

READING = """\
*Rlock makes*: how many times the turns of that product rlock makes, as the median of neighbouring slices; on one name, of the
turns handed on. *Wait*: from asking for the lock until it is granted. *Least and most lucky*: the turns of the contender with
the fewest and of the one with the most, beside the average. A client in Java has 4 processes of 2 threads where others have 8
processes. Each server's own counters confirmed the pairs (tests/bench/contestants/PROTOCOL.md).
"""


def left_out(rows):
    present = {row["who"] for row in rows}
    missing = [NAMES.get(who, who) for who in ORDER if who not in present and who != "rlock_async"]
    return f"Not in this table: {', '.join(missing)} (`make bench PEERS=all`, where they can be installed).\n" if missing else ""


def section(rows, folder, tools):
    """The parts of the page about the rows of GROUPS; tools: report.py's own functions."""
    rows = [row for row in rows if is_peer(row)]
    if not rows:
        return []
    parts = ["## Beside other products\n", ABOUT, overview(rows, tools["table"])] + pictures(rows, folder) + [left_out(rows)]
    parts += ["### What is unfair\n", "No two of these are the same lock. Against each other they are measured at their fastest "
              "setting, which flatters some:\n", unfair(rows, tools["table"]), "### All figures\n", READING]
    for group in GROUPS:
        of = [row for row in rows if row["group"] == group]
        if of:
            parts += [f"**{(of[0].get('about') or group).rstrip('.')}.**\n", details(of, **tools)]
    return parts


BEGIN, END = "<!-- made by make bench -->", "<!-- end -->"


def write_choosing(path, rows, made, table):
    """Puts the overview into the page about choosing a lock, between two marks."""
    rows = [row for row in rows if is_peer(row)]
    if not rows or not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        return
    said = f"`{made.get('command')}` at {made.get('commit')}, {made.get('cores')} cores for clients and server together:"
    one_server = [NAMES.get(who, who) for who in ("zookeeper", "etcd", "hazelcast") if any(row["who"] == who for row in rows)]
    note = f"\n{' and '.join(one_server)} ran as one server without disks, which flatters.\n" if one_server else ""
    path.write_text(f"{before}{BEGIN}\n{said}\n\n{overview(rows, table)}{note}{END}{after}", encoding="utf-8")
