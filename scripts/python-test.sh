#!/bin/sh
# Runs a test written in Python 3: python-test.sh FILE.py; skipped (77) where there is no Python.
command -v python3 >/dev/null 2>&1 || exit 77
exec python3 -B "$@"
