#!/bin/sh
# Runs all PyTorch cases under $VITRINE and compares with what PyTorch 2.11 did (compare.py says how); a test of `make check`.
# CASES=PATTERN limits it to the files whose name contains PATTERN, which is quicker while working on one.
set -eu
: "${VITRINE:?is the program to test}"
command -v python3 >/dev/null 2>&1 || exit 77
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -B "$here/compare.py" "$VITRINE" "$here" --known "$here/expected_to_differ.txt" --only "${CASES:-}"
