#!/usr/bin/env bash
# Training programs on the card against PyTorch on the same card in the same run: losses, parameters and gradients. Of PROGRAMS (the cases of tests/cases
# about training when unset) each runs under both; for every tensor that a program leaves behind the relative norm of the difference must be at most
# 1e-4 (float32) or 2e-2 (bfloat16).
set -u
cd "$(dirname "$0")/../.." || exit 2
"$VITRINE" --device cuda -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1 || { echo "no card: $("$VITRINE" --version | grep -i driver)"; exit 77; }
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || { echo "no PyTorch here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names=${PROGRAMS:-$(ls tests/cases/{077,079,080,082,083,085,086,088}_*.py)}
for program in $names; do
    name=$(basename "$program" .py)
    { sed -e 's/^DEVICE *=.*/DEVICE = "cuda"/' "$program"; cat tests/gpu/training_shown.py; } >"$work/$name.py"
    (timeout 200 python3 "$work/$name.py" >"$work/$name.torch" 2>"$work/$name.torch.err" || echo "$name: PyTorch failed: $(tail -n 1 "$work/$name.torch.err")") &
done
for program in $names; do
    name=$(basename "$program" .py)
    timeout 100 "$VITRINE" --plain "$work/$name.py" >"$work/$name.vitrine" 2>"$work/$name.vitrine.err" || echo "$name: vitrine failed: $(tail -n 3 "$work/$name.vitrine.err")"
done
wait
python3 tests/gpu/compare_training.py "$work"
