#!/bin/sh
# Unpacks packages of any suite of Debian in a folder, as any user; the machine's own apt is not touched.
#   debian.sh programs SUITE DIR PACKAGE    the package with all that it needs, under DIR
#   debian.sh source SUITE DIR PACKAGE      its source, under DIR
# Environment: DEBIAN_MIRROR. Exits 77, after a line on stderr, when it is not to be had here.
# SPDX-License-Identifier: Apache-2.0
set -eu

what=$1 suite=$2 dir=$3 package=$4
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
keys=/usr/share/keyrings/debian-archive-keyring.gpg

unavailable() {
    echo "$package of $suite: $1" >&2
    exit 77
}
command -v apt-get >/dev/null && [ -e "$keys" ] || unavailable "this needs apt and Debian's keys (debian-archive-keyring)"

rm -rf "$dir"
apt=$dir/apt
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status" # nothing is installed: so what a package needs is fetched, down to the C library

# A suite of backports stands on its release; names of the package are taken from the former.
kind=deb
[ "$what" = programs ] || kind=deb-src
for part in "$suite" "${suite%-backports}"; do
    echo "$kind [signed-by=$keys] $mirror $part main"
done | sort -u >"$apt/sources.list"

# Suites that are still in the making are signed for some days only, and a mirror may be behind.
cat >"$apt/apt.conf" <<END
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Log "$apt";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "root";
APT::Get::AllowUnauthenticated "false";
END
export APT_CONFIG="$apt/apt.conf"

fetch() {
    apt-get update || return
    if [ "$what" = programs ]; then
        apt-get install -y --download-only --no-install-recommends "$package/$suite" || return
        for archive in "$apt"/cache/archives/*.deb; do
            dpkg-deb -x "$archive" "$dir" || return
        done
    else
        (cd "$dir" && apt-get source "$package/$suite")
    fi
}
if ! fetch >"$dir.log" 2>&1 </dev/null; then
    unavailable "not to be had from $mirror (see $dir.log)"
fi
rm -rf "$apt" "$dir.log"
