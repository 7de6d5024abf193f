#!/bin/sh
# Runs every program of this folder: usage: VITRINE=PROGRAM run.sh. Each asserts what it says and prints "ok" last; under CPython with
# PyTorch they run and hold just the same.
set -u
: "${VITRINE:?is the program to test}"
folder=$(dirname "$0")
failed=0
for program in "$folder"/*.py; do
    printed=$("$VITRINE" --plain "$program" 2>&1)
    if [ "$(printf '%s\n' "$printed" | tail -n 1)" != ok ]; then
        printf 'FAIL %s\n%s\n' "$program" "$printed"
        failed=1
    fi
done
exit $failed
