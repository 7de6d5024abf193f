#!/bin/sh
# A test of `make check`: every kernel that the suite makes, and the kernels of each row of the op table, compile by NVRTC for two architectures
# (compile_all.py, ../ops/check_rows.py). Skipped, with a line, where there is no NVRTC.
: "${VITRINE:?is the program to test}"
command -v python3 >/dev/null 2>&1 || exit 77
here=$(dirname "$0")
python3 -B "$here/compile_all.py" "$VITRINE" || exit
exec python3 -B "$here/../ops/check_rows.py" "$VITRINE" --no-cpu --cuda sm_80 --cuda sm_90a
