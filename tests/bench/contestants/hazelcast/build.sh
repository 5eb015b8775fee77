#!/bin/sh
# Builds the contestant that takes Hazelcast's locks; the one member of its cluster is of the same library.
# SPDX-License-Identifier: Apache-2.0
here=$(cd "$(dirname "$0")" && pwd)
who=hazelcast
. "$here/../parts.sh"

serve "$parts/classes:$parts/lib/*"
! is_new "$here" "$here/../java" || exit 0
fetch_and_compile Hazelcast
