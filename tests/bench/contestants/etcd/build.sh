#!/bin/sh
# Builds the contestant that takes etcd's locks with jetcd; the server is Debian's.
# SPDX-License-Identifier: Apache-2.0
here=$(cd "$(dirname "$0")" && pwd)
who=etcd
. "$here/../parts.sh"

etcd=$(program etcd)
[ -n "$etcd" ] || unavailable "no etcd server here (Debian: etcd-server)"
serve "$etcd"
! is_new "$here" "$here/../java" || exit 0
fetch_and_compile Etcd
