#!/bin/sh
# A test of `make check`: compile_all.py says what it does. Skipped, with a line, where there is no NVRTC.
: "${VITRINE:?is the program to test}"
command -v python3 >/dev/null 2>&1 || exit 77
exec python3 -B "$(dirname "$0")/compile_all.py" "$VITRINE"
