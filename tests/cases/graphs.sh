#!/bin/sh
# Compares the graphs of all PyTorch cases and of the probes of tests/dynamo with PyTorch 2.11's, operation by operation (compare_graphs.py says how); a test of `make check`.
# CASES=PATTERN limits it to the files whose name contains PATTERN.
set -u
: "${VITRINE:?is the program to test}"
command -v python3 >/dev/null 2>&1 || exit 77
here=$(cd "$(dirname "$0")" && pwd)
failed=0
for folder in "$here" "$here/../dynamo"; do
    python3 -B "$here/compare_graphs.py" "$VITRINE" "$folder" --known "$folder/graphs_differ.txt" --only "${CASES:-}" || failed=1
done
exit $failed
