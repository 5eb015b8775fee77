#!/bin/sh
# Installs npm's redlock for its contestant, in the versions that package-lock.json names.
# SPDX-License-Identifier: Apache-2.0
here=$(cd "$(dirname "$0")" && pwd)
who=redlock
. "$here/../parts.sh"

! is_new "$here" || exit 0
command -v node >/dev/null || unavailable "no node here (Debian: nodejs)"
command -v npm >/dev/null || unavailable "no npm here (Debian: npm)"
rm -rf "$launcher" "$parts/node_modules"
cp "$here/package.json" "$here/package-lock.json" "$parts"
(cd "$parts" && npm ci --ignore-scripts --no-audit --no-fund) >"$parts/npm.log" 2>&1 ||
    unavailable "it could not be had from npm ($parts/npm.log)"
launch "env REDLOCK_MODULES=$(quoted "$parts") node $(quoted "$here/contestant.mjs")"
