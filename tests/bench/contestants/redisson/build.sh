#!/bin/sh
# Builds the contestant that is Java's Redisson 4.7.0, from the libraries that the interop tests have fetched.
# SPDX-License-Identifier: Apache-2.0
here=$(cd "$(dirname "$0")" && pwd)
who=redisson
. "$here/../parts.sh"

B=$B "$here/../../../interop/prepare" || exit
lib=$(cd "$B/agent/lib" && pwd)
! is_new "$here" "$here/../java" "$lib" || exit 0
rm -rf "$launcher" "$parts/classes"
javac --release 17 -Xlint:all,-processing -Werror -cp "$lib/*" -d "$parts/classes" "$here"/*.java \
    "$here"/../java/Claims.java "$here"/../java/Crew.java "$here"/../java/Histogram.java "$here"/../java/Taking.java "$here"/../java/Usage.java
# The JVM as it is when nobody sets anything: all compilers, and heap and collector by its own choice.
launch "java -cp $(quoted "$parts/classes:$lib/*") org.rlock.bench.Contestant"
