#!/bin/sh
# loader.sh FOLDER SONAME: lets programs find a library that was just installed, or removed, in FOLDER. The loader knows
# the libraries of the system's folders from a cache; of other folders it has to be told, which is said here.
# Environment: LDCONFIG, a command with arguments (for tests).
# SPDX-License-Identifier: Apache-2.0
set -eu

folder=$1 soname=$2
PATH=$PATH:/usr/sbin:/sbin # the PATH of a user may be without them
LDCONFIG=${LDCONFIG:-ldconfig}
command -v "${LDCONFIG%% *}" >/dev/null || exit 0 # this loader has no cache

# Whether the loader looks there; of FOLDER and the folder in the list, either may be a link.
is_searched() {
    $LDCONFIG -v -N -X 2>/dev/null | sed -n 's/^\(\/.*\): (.*)$/\1/p; s/^\(\/[^(]*\):$/\1/p' | {
        while IFS= read -r searched; do
            [ ! "$searched" -ef "$folder" ] || exit 0
        done
        exit 1
    }
}

if [ ! -e "$folder/$soname" ]; then
    $LDCONFIG 2>/dev/null || : # a cache that names what is gone does no harm
elif ! is_searched; then
    cat <<END

Programs do not find $soname in $folder by themselves. Link them with -Wl,-rpath,$folder, start
them with LD_LIBRARY_PATH=$folder, or name that folder in a file of /etc/ld.so.conf.d and run ldconfig as root.
END
elif ! $LDCONFIG; then
    echo "Programs find the libraries in $folder as they are now once root has run: ldconfig"
fi
