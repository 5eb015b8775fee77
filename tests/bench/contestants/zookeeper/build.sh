#!/bin/sh
# Builds the contestant that takes Curator's locks on ZooKeeper; the server is of the same libraries.
# SPDX-License-Identifier: Apache-2.0
here=$(cd "$(dirname "$0")" && pwd)
who=zookeeper
. "$here/../parts.sh"

serve "$parts/lib/*"
! is_new "$here" "$here/../java" || exit 0
fetch_and_compile ZooKeeper
