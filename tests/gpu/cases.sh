#!/usr/bin/env bash
# The cases that must agree in all, on the card: same outputs, counts and reasons as on the CPU.
set -u
cd "$(dirname "$0")/../.." || exit 2
"$VITRINE" --device cuda -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1 || { echo "no card: $("$VITRINE" --version | grep -i driver)"; exit 77; }
status=0
for number in 040 049 052 053 055 067 077 079 080 086 094 095; do
    python3 tests/cases/compare.py "$VITRINE" tests/cases --device cuda --only "$number" || status=1
done
exit $status
