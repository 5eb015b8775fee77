#!/bin/sh
# Looks for redis-py, as Debian has it for its own Python, for the contestant.
# SPDX-License-Identifier: Apache-2.0
here=$(cd "$(dirname "$0")" && pwd)
who=redis-py
. "$here/../parts.sh"

rm -f "$launcher"
python=
for each in /usr/bin/python3 python3; do # others than Debian's may come first in PATH, and not see its packages
    "$each" -c 'import redis.lock' 2>/dev/null && python=$each && break
done
[ -n "$python" ] || unavailable "not here (Debian: python3-redis)"
launch "$python $(quoted "$here/contestant.py")"
