#!/bin/sh
# Builds the contestant that takes PostgreSQL's advisory locks.
# SPDX-License-Identifier: Apache-2.0
here=$(cd "$(dirname "$0")" && pwd)
who=postgresql
. "$here/../parts.sh"

initdb=$(program initdb)
[ -n "$initdb" ] || unavailable "no PostgreSQL server here (Debian: postgresql)"
serve "$(dirname "$(readlink -f "$initdb")")"
compile libpq libpq-dev
