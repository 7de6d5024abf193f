#!/usr/bin/env bash
# Autograd's edges on the card: the programs of tests/library about them, operands on two devices, and random programs of gradients.
set -u
cd "$(dirname "$0")/../.." || exit 2
"$VITRINE" --device cuda -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1 || { echo "no card: $("$VITRINE" --version | grep -i driver)"; exit 77; }
status=0
for program in tests/library/autograd_edges.py tests/library/second_derivatives.py tests/gpu/mixed_devices.py; do
    printed=$("$VITRINE" --plain --device cuda "$program" 2>&1)
    [ "$(printf '%s\n' "$printed" | tail -n 1)" = ok ] || { printf 'FAIL %s\n%s\n' "$program" "$printed"; status=1; }
done
python3 tests/prop/gradient_programs.py "$VITRINE" --device cuda --count "${COUNT:-100}" || status=1
exit $status
