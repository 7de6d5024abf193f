# shellcheck shell=bash
# What start, check and bundle share: sourced, after `set -eu` and `cd` to the root of the sources.
#   setup_packages             installs what the build needs and is not there (apt-get, as root or through sudo)
#   setup_build DIR FLAGS -- TARGETS   configures out of tree in DIR (again when FLAGS changed) and makes TARGETS
# Both are silent unless something fails; then they print the end of the log and return 1.
# Builds of one checkout take turns (a lock in build/), since autotools rewrites files in the source tree.

setup_jobs=${VITRINE_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
setup_list="gcc make autoconf automake pkg-config libreadline-dev libgraphviz-dev graphviz libcjson-dev check libopenblas-dev python3"

setup_is_complete() {
    local tool
    for tool in cc make autoreconf automake pkg-config dot python3 awk; do
        command -v "$tool" >/dev/null 2>&1 || return 1
    done
    pkg-config --exists readline libgvc libcgraph libcjson check openblas
}

# Runs "$@" with its output in log file $1; on failure prints the end of it.
setup_logged() {
    local log=$1
    shift
    if ! "$@" >>"$log" 2>&1 </dev/null; then
        tail -n "${VITRINE_LOG_LINES:-40}" "$log" >&2
        echo "vitrine: failed: $* (all of it: $log)" >&2
        return 1
    fi
}

setup_packages() {
    local as_root=() log
    setup_is_complete && return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "vitrine: install the equivalents of these Debian packages: $setup_list" >&2
        return 1
    fi
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "vitrine: as root: apt-get install $setup_list" >&2
            return 1
        fi
        as_root=(sudo)
        sudo -v # asks for the password here, where it can be seen
    fi
    mkdir -p build
    log=build/packages.log
    : >"$log"
    setup_logged "$log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update || true # an old list may do
    # shellcheck disable=SC2086 # a list of words
    setup_logged "$log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $setup_list
}

setup_lock() {
    mkdir -p build
    exec 9>build/.lock
    if command -v flock >/dev/null 2>&1; then flock 9; fi
}

setup_unlock() { exec 9>&-; }

setup_autotools() {
    if [ ! -f configure ] || [ ! -f Makefile.in ] || [ ! -f config.h.in ] || [ configure.ac -nt configure ]; then
        setup_logged "$1" autoreconf --install
    fi
}

setup_configure() {
    local directory=$1 log=$2 top
    shift 2
    if [ -f "$directory/Makefile" ] && [ "$(cat "$directory/.flags" 2>/dev/null)" = "$*" ]; then return 0; fi
    top=$PWD
    (cd "$directory" && setup_logged "$log" "$top/configure" "$@") || return 1
    echo "$*" >"$directory/.flags"
}

# setup_build DIR [CONFIGURE FLAGS] -- TARGETS
setup_build() {
    local directory=$1 log flags=() status=0
    shift
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    setup_lock
    mkdir -p "$directory"
    directory=$(cd "$directory" && pwd)
    log=$directory/setup.log
    : >"$log"
    { setup_autotools "$log" && setup_configure "$directory" "$log" ${flags[@]+"${flags[@]}"} &&
        setup_logged "$log" make -C "$directory" -j"$setup_jobs" "$@"; } || status=1
    setup_unlock
    return $status
}
