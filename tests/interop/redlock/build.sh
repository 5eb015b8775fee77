#!/bin/sh
# Makes $1/redlock: npm's redlock behind a line protocol, in the versions of package-lock.json. Exits as agent/build.sh.
# SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/node"
out=$(cd "$1" && pwd)
[ ! -x "$out/redlock" ] || [ -n "$(find "$here" -type f -newer "$out/redlock" | head -n 1)" ] || exit 0
unavailable() { echo "interop: $1" >&2; exit 77; }
command -v node >/dev/null || unavailable "no node here (Debian: nodejs)"
command -v npm >/dev/null || unavailable "no npm here (Debian: npm)"
rm -rf "$out/redlock" "$out/node/node_modules"
cp "$here/package.json" "$here/package-lock.json" "$out/node"
(cd "$out/node" && npm ci --ignore-scripts --no-audit --no-fund) >"$out/npm.log" 2>&1 ||
    unavailable "redlock could not be had from npm ($out/npm.log)"
printf '#!/bin/sh\nREDLOCK_MODULES="%s/node" exec node "%s/agent.mjs"\n' "$out" "$here" >"$out/redlock.new"
chmod +x "$out/redlock.new"
mv "$out/redlock.new" "$out/redlock"
