#!/bin/sh
# What the partition saves, compared with PyTorch's min-cut (compare_saved.py says how): the cases that have graphs of both sides, and the programs of this
# folder. A test of `make check`. CASES=PATTERN limits it to the files whose name contains PATTERN.
set -eu
: "${VITRINE:?is the program to test}"
command -v python3 >/dev/null 2>&1 || exit 77
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -B "$here/compare_saved.py" "$VITRINE" "$here/../cases" "$here" --known "$here/exceptions.txt" --only "${CASES:-}"
