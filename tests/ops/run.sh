#!/bin/sh
# A test of `make check`: check_rows.py says what it does.
: "${VITRINE:?is the program to test}"
command -v python3 >/dev/null 2>&1 || exit 77
exec python3 -B "$(dirname "$0")/check_rows.py" "$VITRINE"
