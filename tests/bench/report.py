#!/usr/bin/python3
"""report.py BENCH.json LIMITS.md DOCS: makes DOCS/benchmarks.md and its plots, DOCS/benchmarks/*.svg, of what
`make bench` has measured. Any part of a run will do. Plots need gnuplot; without it their tables alone are made."""
# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # of the module beside this one: the source tree stays as it is
import report_peers  # noqa: E402  pylint: disable=wrong-import-position

WHO = {
    "rlock": "rlock, this library: one client for all threads of a process",
    "raw": "a straightforward C program with hiredis, with one connection for each thread. It sends exactly the requests "
           "that rlock sends for a turn, and waits for each reply. It never waits for a lock",
    "redisson": "Java's Redisson 4.7.0 in a warm JVM, with its default configuration",
    "redis-py": "Python's redis-py and its `Lock`, whose waiters ask every 100 ms. On one name, the thread that released the lock "
                "takes it again while the others sleep, so its rates look better than its waiting times",
    "redlock": "npm's redlock 4.2.0 on ioredis, whose waiters ask about every 200 ms, to the same effect. It has concurrent loops "
               "instead of threads",
}
ORDER = list(WHO)
WHO.update(report_peers.WHO)
NAMES = report_peers.NAMES

# Of a sweep's plot: its title, its x; one that is not here has its own name for a title.
SWEEPS = {
    "threads": {"title": "Threads of one process, each on a name of its own", "x": "threads"},
    "processes, own names": {"title": "Processes of one thread, each on a name of its own", "x": "processes"},
    "waiters": {"title": "Threads of one process that all want one name", "x": "threads"},
    "holds": {"title": "Locks held by one client, renewed by the watchdog", "x": "locks held", "base": 10,
              "y": "client CPU, µs a renewal",
              "text": "Up to 10,000 of them with a watchdog timeout of 3 s, beyond with the default, 30 s. Of few locks "
                      "the cost is that of waking up at all."},
    "processes, one name": {"title": "Processes of one thread, all on one name", "x": "processes",
                            "text": "Raw hiredis is not in here, as it never waits for a lock."},
}

HOW = """\
`make bench` starts a private redis-server and the programs to compare, each in a separate process. All of them reach the
server in the same way. They work in turn, in slices of 5 to 100 ms (C) or 100 to 300 ms (programs that need
longer to reach their speed), so that drifts of the machine affect all of them alike: raw alone differs by a tenth
from one second to the next. Each slice is divided by its neighbour's, and **the ratio is the median of these
quotients**; between the limits in brackets the true median lies 95 times of 100, whatever the distribution, as far as
slices are independent. There are at least 15 slices of each side, and up to 315 where C is compared with C. A target
is met when the median meets it. Values without limits are of longer measurements, which are not repeated.

A *pair* is one lock and one unlock. *Client CPU* is the user and system time of the whole process for a pair, that of
a JVM's compilers and collectors included; *server CPU* is that of redis-server. p50 and p99 are of the time of a pair,
waiting included. *Time without a core* is that in which the server, or the client that waits for it, was ready to run
and the kernel let something else run (`/proc/PID/schedstat`).

**Every slice checks mutual exclusion**: the holder of a lock swaps its number into a word of memory that all
processes share. If the word is not free, the whole run fails. {violations}
"""

RUN = """\
```sh
make bench PEERS=all                              # all rows; writes this page and the table in choosing.md
make bench                                        # the same without the slower of the other products
make bench BENCH_ARGS='--only own-names'          # some rows; writes build/benchmarks.md instead
make bench BENCH_ARGS='--only kinds --before ../old/build/tests/bench/contestants'   # beside another version: it is called raw
build/tests/bench/speed --help                    # lists the rows
```

It needs what `make deps-bench` and `make deps-peers` install (a JDK and Maven for the clients in Java, PostgreSQL,
memcached, etcd, python3-redis, npm, gnuplot). What is not installed is left out, with a message.{took} The rows
with all their figures are in `build/bench.json`. `make bench-failover` measures failovers and outages.
"""


# --- texts ---


def name_of(who):
    return NAMES.get(who, who)


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def figure(number):
    """With three digits that mean something."""
    if number is None:
        return ""
    if number and abs(number) < 0.01:
        return f"{number:.2g}"
    digits = 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0
    text = f"{number:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits and float(text).is_integer() else text


def whole(number):
    return "" if number is None else f"{number:,.0f}"


def ratio(row, over, limits=True):
    median, low, high = (row.get(f"ratio_{over}{end}") for end in ("", "_low", "_high"))
    if median is None:
        return ""
    digits = 2 if median < 10 else 1 if median < 100 else 0
    text = f"{median:.{digits}f}" if median >= 0.1 else f"{median:.2g}"
    if limits and low is not None and high is not None and low < high:
        text += f" ({low:.{digits}f}–{high:.{digits}f})"
    return text


def ratio_to_itself(row, over):
    return "1" if row["who"] == over else ratio(row, over)


def is_value(row):
    return row.get("unit") is not None


def value(row):
    number = row.get("value")
    if number is None:
        return "–"
    text = whole(number) if float(number).is_integer() else figure(number)
    return f"{text} {row['unit']}"


def verdict(row):
    if not row.get("target"):
        return ""
    return {True: "met", False: "**missed**", None: "not judged"}[row.get("pass")]


def threads(row):
    count, processes = row.get("threads") or 0, row.get("processes") or 0
    text = f"{whole(count)} thread{'s' * (count != 1)}" if count else ""
    if processes > 1:
        text = f"{processes} processes" + (f" of {text}" if text else "")
    return text


def measured(row):
    """What the target is compared with, in a few words."""
    words = [value(row)] if is_value(row) else []
    for over in ("raw", "redisson"):
        text = ratio(row, over)
        if text:
            words.append(f"{text} × {name_of(over)}")
    target = row["target"].lower()
    if row.get("ratio_rlock"):
        words = [f"{ratio(row, 'rlock')} × {name_of(row['who'])}"]
    if "p99 wait" in row["target"]:
        words = [f"p99 wait {figure(row['wait_p99_us'])} µs", f"{figure(row['cpu_us'] + row['server_cpu_us'])} µs of CPU a pair"]
        return ", ".join(words)
    if not is_value(row) and not words and row.get("per_s"):
        words.append(f"{whole(row['per_s'])} a second")
    if "cpu" in target and row.get("cpu_us") and not is_value(row):
        words.append(f"{figure(row['cpu_us'])} µs of CPU a pair")
    if "connection" in target and row.get("connections"):
        words.append(f"{row['connections']} connection{'s' * (row['connections'] != 1)}")
    return ", ".join(words)


def table(columns, rows):
    """columns: (title, text of a row, whether to the right); those that are empty all the way are left out."""
    filled = [column for column in columns if any(column[1](row) for row in rows)]
    lines = ["| " + " | ".join(title for title, _, _ in filled) + " |",
             "|" + "|".join("--:" if right else "---" for _, _, right in filled) + "|"]
    lines += ["| " + " | ".join(text(row).replace("|", "\\|") for _, text, _ in filled) + " |" for row in rows]
    return "\n".join(lines) + "\n"


# --- the groups of rows ---


def group(row):
    return (row.get("group") or row["what"]).replace("-", " ")


def groups(rows):
    """Their name → rows, in the order of the run; those that are points of plots alone have a section of their own."""
    found = {}
    for row in rows:
        found.setdefault(group(row), []).append(row)
    return {name: of for name, of in found.items()
            if not all(row.get("plot") for row in of) and not any(report_peers.is_peer(row) for row in of)}


def sentence(text):
    return text and title_of(text).rstrip(".") + "."


def by_rank(rows):
    """rlock first among those that worked in turn: they follow each other, and nobody is there twice."""
    rank = {who: at for at, who in enumerate(ORDER)}
    found, contest = [], {}
    for row in rows:
        if row["who"] in contest or any(row["what"] != other["what"] for other in contest.values()):
            found += sorted(contest.values(), key=lambda each: rank.get(each["who"], len(ORDER)))
            contest = {}
        contest[row["who"]] = row
    return found + sorted(contest.values(), key=lambda each: rank.get(each["who"], len(ORDER)))


def group_table(rows):
    rates = by_rank([row for row in rows if not is_value(row)])
    values = by_rank([row for row in rows if is_value(row)])
    before = [
        ("threads", lambda row: whole(row.get("threads")), True),
        ("processes", lambda row: whole(row["processes"]) if (row.get("processes") or 1) > 1 else "", True),
        ("", lambda row: name_of(row["who"]), False),
    ]
    cost = [
        ("client CPU, µs a pair", lambda row: figure(row.get("cpu_us")), True),
        ("server CPU, µs a pair", lambda row: figure(row.get("server_cpu_us")), True),
        ("connections", lambda row: whole(row.get("connections")), True),
        ("p50, µs", lambda row: figure(row.get("p50_us")), True),
        ("p99, µs", lambda row: figure(row.get("p99_us")), True),
    ]
    ratios = [(f"× {name_of(over)}", lambda row, over=over: ratio_to_itself(row, over), True)
              for over in ("raw", "redisson")]
    target = [("target", lambda row: row.get("target") or "", False), ("", verdict, False)]
    parts = []

    def what(of):
        several = len({row["what"] for row in of}) > 1 or of is values
        return [("", lambda row: row["what"] if several else "", False)]

    if rates:
        parts.append(table(what(rates) + before + [("pairs a second", lambda row: whole(row.get("per_s")), True)] + ratios + cost +
                           target, rates))
    if values:
        if not any((row.get("ratio_raw") or row.get("ratio_redisson")) for row in values):
            ratios = []
        else:
            ratios = [(title, lambda row, over=over: ratio(row, over), right)
                      for (title, _, right), over in zip(ratios, ("raw", "redisson"))]
        parts.append(table(what(values) + before + [("", value, True)] + ratios + cost + target, values))
    return "\n".join(parts)


def section_of(row, shown):
    if report_peers.is_peer(row):
        return "Beside other products"
    return group(row) if group(row) in shown else "How cost grows"


def summary(rows):
    judged = [row for row in rows if row.get("target")]
    if not judged:
        return "No row of this run has a target.\n"
    counts = {word: sum(row.get("pass") is word for row in judged) for word in (True, False, None)}
    shown = groups(rows)
    said = f"{counts[True]} of {len(judged)} targets are met"
    if counts[None]:
        said += f"; {counts[None]} could not be judged, as who they compare with was not there"
    if counts[False]:
        said += f". {counts[False]} {'is' if counts[False] == 1 else 'are'} missed: " \
                "[why](#what-is-not-reached-and-why)"
    columns = [
        ("what", lambda row: f"[{row['what']}](#{anchor(section_of(row, shown))})", False),
        ("", threads, False),
        ("target", lambda row: row["target"], False),
        ("measured", measured, False),
        ("", verdict, False),
    ]
    return f"{said}.\n\n" + table(columns, judged)


def title_of(what):
    return what[:1].upper() + what[1:]


def anchor(heading):
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# --- sweeps ---


class Sweep:
    def __init__(self, plot, rows):
        self.plot, self.rows = plot, rows
        self.about = SWEEPS.get(plot, {})
        present = {row["who"] for row in rows}
        self.who = [who for who in ORDER if who in present] + sorted(present - set(ORDER))
        self.unit = next((row["unit"] for row in rows if is_value(row)), None)

    def y(self, row):
        return row.get("value") if is_value(row) else row.get("per_s")

    def y_title(self):
        return self.about.get("y") or self.unit or "pairs a second"

    def points(self, who, y):
        points = {row["x"]: y(row) for row in self.rows if row["who"] == who and row.get("x") is not None}
        return sorted((x, value) for x, value in points.items() if value is not None)

    def pictures(self):
        """Of each: the end of its file's name, the title of y, what y is of a row."""
        found = [("", self.y_title(), self.y)]
        if sum(row.get("cpu_us") is not None for row in self.rows) > 1:
            found.append(("-cpu", "client CPU, µs a pair", lambda row: row.get("cpu_us")))
        return found

    def table(self):
        xs = sorted({row["x"] for row in self.rows if row.get("x") is not None})
        at = {(row["x"], row["who"]): row for row in self.rows}
        columns = [(self.about.get("x", "x"), whole, True)]
        for who in self.who:
            def rate(x, who=who):
                row = at.get((x, who))
                return figure(self.y(row)) if row and self.unit else whole(self.y(row)) if row else ""

            def cpu(x, who=who):
                row = at.get((x, who))
                return figure(row.get("cpu_us")) if row else ""
            columns += [(f"{name_of(who)}: {self.y_title()}", rate, True), ("CPU µs", cpu, True)]
        return table(columns, xs)


def sweeps(rows):
    found = {}
    for row in rows:
        if row.get("plot"):
            found.setdefault(row["plot"], []).append(row)
    return [Sweep(plot, of) for plot, of in found.items()]


COLOURS = {"rlock": "#c0392b", "raw": "#7f8c8d", "redisson": "#2471a3", "redis-py": "#b7950b", "redlock": "#1e8449"}
OTHERS = ["#6c3483", "#ca6f1e", "#17202a"]


def draw(sweep, path, y_title, y):
    lines = [(who, sweep.points(who, y)) for who in sweep.who]
    lines = [(who, points) for who, points in lines if points]
    all_y = [value for _, points in lines for _, value in points]
    script = [
        "set terminal svg size 760,400 font 'sans-serif,13' background '#ffffff'",
        f"set output {quoted(path)}",
        f"set title {quoted(sweep.about.get('title', title_of(sweep.plot)))} noenhanced",
        f"set xlabel {quoted(sweep.about.get('x', 'x'))} noenhanced",
        f"set ylabel {quoted(y_title)} noenhanced",
        "set grid lt 1 lw 0.5 lc '#cccccc'; set border 3 lc '#555555'; set tics nomirror",
        "set key outside right noenhanced",
        "set format y '%.0s%c'",
        f"set logscale x {sweep.about.get('base', 2)}",
    ]
    xs = sorted({x for _, points in lines for x, _ in points})
    script.append("set xtics (" + ", ".join(f"{quoted(short(x))} {x}" for x in xs) + ")")
    script.append(f"set xrange [{min(xs) / 1.15}:{max(xs) * 1.15}]")
    if min(all_y) > 0 and max(all_y) > 8 * min(all_y):
        script.append("set logscale y; set mytics 10")
    else:
        script.append(f"set yrange [0:{max(all_y) * 1.1 or 1}]")
    plots, data = [], []
    spare = iter(OTHERS)
    for at, (who, points) in enumerate(lines):
        colour = COLOURS.get(who) or next(spare, "#000000")
        plots.append(f"'-' with linespoints lw 2 pt {at + 5} ps 0.7 lc {quoted(colour)} title {quoted(name_of(who))}")
        data += [f"{x} {value}" for x, value in points] + ["e"]
    script += ["plot " + ", ".join(plots)] + data
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def short(number):
    for unit, word in ((10**6, "M"), (10**3, "k")):
        if number >= unit and number % unit == 0:
            return f"{number / unit:g}{word}"
    return f"{number:g}"


def sweep_sections(rows, folder):
    drawing = shutil.which("gnuplot")
    parts = []
    found = sweeps(rows)
    if found and not drawing:
        print("report: LEFT OUT: plots, as there is no gnuplot", file=sys.stderr)
    for sweep in found:
        parts.append(f"### {sweep.about.get('title', title_of(sweep.plot))}\n")
        if sweep.about.get("text"):
            parts.append(sweep.about["text"] + "\n")
        for end, y_title, y in sweep.pictures() if drawing else []:
            path = folder / f"{slug(sweep.plot)}{end}.svg"
            draw(sweep, path, y_title, y)
            parts.append(f"![{sweep.about.get('title', title_of(sweep.plot))}: {y_title}]"
                         f"({folder.name}/{path.name})\n")
        parts.append(sweep.table())
        judged = [row for row in sweep.rows if row.get("target")]
        if judged:
            parts.append(table([("", threads, False), ("target", lambda row: row["target"], False),
                                ("measured", measured, False), ("", verdict, False)], judged))
    return parts


# --- the page ---


def machine(made, rows):
    present = {row["who"] for row in rows}
    lines = [
        ("date", made.get("date")),
        ("commit", made.get("commit")),
        ("command", f"`{made['command']}`" if made.get("command") else None),
        ("processor", f"{made.get('cpu') or 'unknown'}, {made.get('cores') or '?'} cores, for clients and server "
                      "together"),
        ("kernel", made.get("kernel")),
        ("server", f"Redis {made.get('redis')} for the clients of Redis, without persistence, on the same machine, over "
                   "loopback TCP where a row does not say otherwise"),
    ]
    text = table([("", lambda line: line[0], False), ("", lambda line: str(line[1]), False)],
                 [line for line in lines if line[1]])
    # Columns without titles are empty to the left of their rows: both are wanted.
    who = "".join(f"- **{name_of(each)}**: {WHO[each]}.\n" for each in WHO if each in present)
    return f"{text}\n{who}"


def limits(path, rows):
    missed = [row for row in rows if row.get("pass") is False]
    prose = re.sub(r"<!--.*?-->\s*", "", path.read_text(encoding="utf-8"), flags=re.S) if path.exists() else ""
    parts = []
    if missed:
        parts.append("Missed in this run:\n")
        parts.append("".join(f"- {row['what']}, {threads(row)}: {row['target']}; measured: {measured(row)}\n"
                             .replace(", :", ":") for row in missed))
    else:
        parts.append("No target was missed in this run.\n")
    return "\n".join(parts + [prose])


def page(bench, prose, folder):
    rows = bench.get("rows", [])
    seen = sum(row.get("violations") or 0 for row in rows)
    seconds = bench.get("seconds")
    took = f" This run took {round(seconds / 60, 1):g} min." if seconds else ""
    violations = "There was no violation." if not seen else f"**There were {seen} violations.**"
    parts = ["# Benchmarks\n",
             "The cost of acquiring and releasing locks, compared with the same requests of a plain C program, and with "
             "other lock clients. All figures come from one run of `make bench`.\n",
             "## Where\n", machine(bench.get("made", {}), rows),
             ]
    tools = {"table": table, "figure": figure, "whole": whole, "ratio": ratio, "verdict": verdict}
    parts += report_peers.section(rows, folder, tools)
    parts += ["## What is reached\n", summary(rows),
             "## How\n", HOW.format(violations=violations)]
    for name, of in groups(rows).items():
        parts += [f"## {title_of(name)}\n", sentence(of[0].get("about") or ""), group_table(of)]
    grown = sweep_sections(rows, folder)
    if grown:
        parts += ["## How cost grows\n"] + grown
    parts += ["## What is not reached, and why\n", limits(prose, rows), "## Run it yourself\n", RUN.replace("{took}", took)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    bench = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    docs = pathlib.Path(sys.argv[3])
    folder = docs / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    text = page(bench, pathlib.Path(sys.argv[2]), folder)
    (docs / "benchmarks.md").write_text(text, encoding="utf-8")
    report_peers.write_choosing(docs / "choosing.md", bench.get("rows", []), bench.get("made", {}), table)


main()
