#!/bin/sh
# deb.sh FOLDER: builds the Debian packages of this tree into FOLDER, for the Debian that this is, and looks at them with
# lintian where that is installed. Needs what `make deps-deb` installs.
# SPDX-License-Identifier: Apache-2.0
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)
version=$(sed -n '1s/^rlock (\([^)]*\)).*/\1/p' "$top/packaging/debian/changelog")
described=$(sed -n 's/^#define RLOCK_VERSION *"\(.*\)"/\1/p' "$top/include/rlock/version.h")
[ "${version%%-*}" = "$described" ] || {
    echo "packaging/debian/changelog is about $version, include/rlock/version.h about $described: make them agree" >&2
    exit 1
}
command -v dpkg-buildpackage >/dev/null || {
    echo "There is no dpkg-buildpackage here: this needs Debian or Ubuntu, and what make deps-deb installs" >&2
    exit 1
}

case $to in
*[[:space:]]*)
    echo "The path $to has a space in it, which dpkg-buildpackage does not take: build in another folder" >&2
    exit 1
    ;;
esac

tree=$to/rlock-$version
rm -rf "$tree" "$to"/*.deb "$to"/*.changes "$to"/*.buildinfo
mkdir "$tree"
(cd "$top" && tar -cf - include src lua watchdog docs packaging Makefile README.md LICENSE CHANGELOG.md tests/support/deps.sh) |
    tar -xf - -C "$tree"
cp -r "$top/packaging/debian" "$tree/debian"
log=$to/build.log
(cd "$tree" && dpkg-buildpackage --build=binary --no-sign >"$log" 2>&1) || {
    cat "$log" >&2
    exit 1
}
rm -rf "$tree"
ls "$to"/*.deb
if command -v lintian >/dev/null; then
    # A package of this repository closes no bug of Debian, and has no home page.
    as=
    [ "$(id -u)" != 0 ] || as=--allow-root
    lintian $as --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$to"/*.changes
fi
