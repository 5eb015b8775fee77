#!/bin/sh
# Builds the contestant that locks with memcached's add and delete.
# SPDX-License-Identifier: Apache-2.0
here=$(cd "$(dirname "$0")" && pwd)
who=memcached
. "$here/../parts.sh"

memcached=$(program memcached)
[ -n "$memcached" ] || unavailable "no memcached server here (Debian: memcached)"
serve "$memcached"
compile libmemcached libmemcached-dev
