#!/bin/sh
# Programs whose results under PyTorch are in table/: compare.py says how they are compared.
here=$(dirname "$0")
exec python3 "$here/compare.py" "${VITRINE:-./vitrine}"
