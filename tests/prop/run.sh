#!/bin/sh
# A test of `make check`: 60 random programs of tensors, 100 of autograd's edges, 60 of the language under capture, 60 of the language alone (against what CPython 3.12 printed), and every PyTorch case, eagerly and compiled.
# And 12 programs at eleven sizes each through entries with symbolic sizes.
# Longer searches: dynamic_programs.py --count 200; random_programs.py --first N --count M; capture_programs.py --count 1000.
set -eu
: "${VITRINE:?is the program to test}"
command -v python3 >/dev/null 2>&1 || exit 77
here=$(cd "$(dirname "$0")" && pwd)
python3 -B "$here/random_programs.py" "$VITRINE" --first 0 --count 60
python3 -B "$here/capture_programs.py" "$VITRINE" --first 0 --count 60
python3 -B "$here/gradient_programs.py" "$VITRINE" --first 0 --count 100
python3 -B "$here/language_programs.py" "$VITRINE" --count 60
python3 -B "$here/dynamic_programs.py" "$VITRINE" --first 0 --count 12
python3 -B "$here/eager_cases.py" "$VITRINE"
