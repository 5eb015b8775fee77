#!/bin/sh
# Makes $1/python-redis-lock: agent.py, which stands for python-redis-lock, on the redis-py that Debian has for its own
# Python. Exits as agent/build.sh.
# SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for python in /usr/bin/python3 python3; do # others than Debian's may come first in PATH, and not see its packages
    "$python" -c 'import redis' 2>/dev/null || continue
    printf '#!/bin/sh\nexec %s "%s/agent.py"\n' "$python" "$here" >"$1/python-redis-lock.new"
    chmod +x "$1/python-redis-lock.new"
    mv "$1/python-redis-lock.new" "$1/python-redis-lock"
    exit 0
done
echo "interop: no redis-py here (Debian: python3-redis)" >&2
exit 77
