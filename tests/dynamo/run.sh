#!/bin/sh
# Runs the probes of Dynamo under $VITRINE and compares with what PyTorch 2.11 did (../cases/compare.py says how); a test of `make check`.
# PROBES=PATTERN limits it to the files whose name contains PATTERN. scripts/record_cases made the expected files, on a machine with PyTorch.
set -eu
: "${VITRINE:?is the program to test}"
command -v python3 >/dev/null 2>&1 || exit 77
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -B "$here/../cases/compare.py" "$VITRINE" "$here" --known "$here/expected_to_differ.txt" --only "${PROBES:-}"
