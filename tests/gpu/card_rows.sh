#!/usr/bin/env bash
# Rows that a card makes of others (torch/card.py) beside the CPU's: card_rows.py.
set -u
cd "$(dirname "$0")/../.." || exit 2
"$VITRINE" --device cuda -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1 || { echo "no card: $("$VITRINE" --version | grep -i driver)"; exit 77; }
"$VITRINE" tests/gpu/card_rows.py
