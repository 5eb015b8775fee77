#!/bin/sh
# deps.sh build|test|limits|interop|bench|peers|site|deb|ci BIN [check]: installs what is missing to build, to test, to measure
# the code and try the completions, to test against Java, to measure beside others, beside all others (PEERS=all), to make the
# web site or the Debian packages, or for the further checks of .ci/run. BIN: a folder for programs, last in PATH. check: only
# says what is missing, and fails. Silent and quick when nothing is missing.
# SPDX-License-Identifier: Apache-2.0
set -eu

for_what=$1
bin=$2
check=${3:-}
missing=
servers=
need() { # package, then a command that succeeds when it is there
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
# Likewise a package that would start a service on the machine when it is installed: it is unpacked into BIN/servers instead,
# and only the libraries that it needs are installed. Its program may also be there already.
server() { # package, program, a pattern of further places
    package=$1
    # shellcheck disable=SC2086 # a pattern
    set -- "$(command -v "$2")" "$bin/servers/usr/bin/$2" $3
    for each in "$@"; do
        [ ! -x "$each" ] || return 0
    done
    servers="$servers $package"
}
# Debian's package redis-server would start a service on the machine, and enable it for ever. Its
# one program is another name for the redis-check-rdb of redis-tools: that name is made here.
redis_server() {
    command -v redis-server && return
    mkdir -p "$bin" && ln -sf "$(command -v redis-check-rdb)" "$bin/redis-server" && "$bin/redis-server" --version
}

case $for_what in
build)
    compiler=${CC:-cc}
    compiler=${compiler%% *}
    # Debian's package has the usual ones; another one is the user's to install.
    case $compiler in
    cc | gcc | c99) ;;
    *) command -v "$compiler" >/dev/null || { echo "the compiler \"$compiler\" (CC) is not installed" >&2; exit 1; } ;;
    esac
    need build-essential command -v "$compiler"
    need pkg-config command -v pkg-config
    need libhiredis-dev pkg-config --exists hiredis
    need uuid-dev pkg-config --exists uuid
    need libyaml-dev pkg-config --exists yaml-0.1
    need libssl-dev pkg-config --exists openssl
    ;;
test)
    need redis-tools redis_server
    need openssl command -v openssl
    need liblua5.1-0-dev pkg-config --exists lua5.1
    need libuv1-dev pkg-config --exists libuv
    need libevent-dev pkg-config --exists libevent
    ;;
limits)
    need pmccabe command -v pmccabe
    need zsh command -v zsh
    need fish command -v fish
    need mandoc command -v mandoc
    need cmake command -v cmake
    ;;
interop)
    need default-jdk-headless command -v javac
    need maven command -v mvn
    need python3-redis /usr/bin/python3 -c 'import redis.lock'
    need nodejs command -v node
    need npm command -v npm
    ;;
bench)
    need python3 command -v /usr/bin/python3
    need python3-redis /usr/bin/python3 -c 'import redis.lock'
    need nodejs command -v node
    need npm command -v npm
    need gnuplot-nox command -v gnuplot
    need libpq-dev pkg-config --exists libpq
    need libmemcached-dev pkg-config --exists libmemcached
    server memcached memcached ''
    server postgresql initdb "/usr/lib/postgresql/*/bin/initdb $bin/servers/usr/lib/postgresql/*/bin/initdb"
    ;;
peers)
    server etcd-server etcd ''
    ;;
deb)
    need debhelper command -v dh
    need fakeroot command -v fakeroot
    need lintian command -v lintian
    ;;
site)
    need python3 command -v /usr/bin/python3
    need mkdocs command -v mkdocs
    need mkdocs-material /usr/bin/python3 -c 'from mkdocs.utils import get_theme_dir; get_theme_dir("material")'
    need mandoc command -v mandoc
    ;;
ci)
    need clang command -v clang
    ;;
esac
if [ -n "$check" ]; then
    [ -n "$missing$servers" ] || exit 0
    echo "Missing:$missing$servers" >&2
    if command -v apt-get >/dev/null; then
        echo "Install these Debian packages with: make deps-$for_what" >&2
    else
        echo "These are the names of Debian's packages; install what your system calls them." >&2
    fi
    exit 1
fi
# The tests' certificates are for "localhost", which a system from debootstrap has no /etc/hosts for.
if [ "$for_what" = test ] && ! getent hosts localhost >/dev/null; then
    line='127.0.0.1 localhost'
    echo "Adding to /etc/hosts: $line"
    if [ "$(id -u)" = 0 ]; then
        echo "$line" >>/etc/hosts
    else
        echo "$line" | sudo tee -a /etc/hosts >/dev/null
    fi
fi
[ -n "$missing$servers" ] || exit 0

give_up() {
    echo "$1" >&2
    case $for_what in limits | interop | bench | peers | ci) exit 0 ;; esac # what needs them is then left out, aloud
    exit 1
}
if ! command -v apt-get >/dev/null; then
    give_up "Missing:$missing$servers. Please install these Debian packages, or what your system calls them."
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || give_up "Missing, and no sudo here. Please run as root: apt-get update && apt-get install$missing"
fi

[ -z "$missing" ] || echo "Installing the Debian packages:$missing"
[ -z "$servers" ] || echo "Unpacking the Debian packages into $bin/servers:$servers"
# Finds the packages to unpack (postgresql names the one of a version), and the libraries that they need.
find_parts() {
    # shellcheck disable=SC2086 # words
    apt-cache show $servers >/dev/null 2>&1 || $as_root apt-get update </dev/null
    parts=
    for each in $servers; do
        [ "$each" != postgresql ] || each=$(depends postgresql | grep '^postgresql-[0-9]*$')
        parts="$parts $each $(depends "$each" | grep '^postgresql-client-[0-9]*$' || :)"
    done
    for each in $parts; do
        missing="$missing $(depends "$each" | grep '^\(lib.*\|zlib1g\)$' | tr '\n' ' ')"
    done
}
depends() {
    apt-cache depends "$1" | sed -n 's/^ *Depends: //p'
}
unpack() {
    mkdir -p "$bin/servers"
    # shellcheck disable=SC2086 # words
    (cd "$bin/servers" && apt-get download $parts && for each in *.deb; do dpkg -x "$each" . && rm "$each" || exit; done)
}
install() {
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2086 # words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends \
        $missing </dev/null
}
# make -j asks for the packages of several purposes at the same time, and the lists of packages have a lock that nobody waits for.
mkdir -p "$bin"
exec 9>"$bin/.installing"
flock 9
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM
if [ -n "$servers" ]; then
    find_parts >"$log" 2>&1 || { cat "$log" >&2; give_up "Could not find:$servers"; }
fi
if ! install >"$log" 2>&1; then
    # Fresh machines have no list of packages yet, old ones an outdated one.
    { $as_root apt-get update </dev/null && install; } >"$log" 2>&1 || {
        cat "$log" >&2
        give_up "Could not install:$missing"
    }
fi
if [ -n "$servers" ] && ! unpack >"$log" 2>&1; then
    cat "$log" >&2
    give_up "Could not unpack:$servers"
fi
[ "$for_what" != test ] || redis_server >/dev/null
