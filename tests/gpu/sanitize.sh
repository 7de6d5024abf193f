#!/usr/bin/env bash
# compute-sanitizer over the examples and two training cases on the card: no invalid access, no leak of device memory errors.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here"; exit 77; }
"$VITRINE" --device cuda -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1 || { echo "no card"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for case in tests/cases/040_*.py tests/cases/053_*.py tests/cases/067_*.py tests/cases/077_*.py tests/cases/080_*.py tests/cases/094_*.py; do
    sed 's/^DEVICE *=.*/DEVICE = "cuda"/' "$case" >"$work/case.py"
    compute-sanitizer --error-exitcode 9 "$VITRINE" "$work/case.py" >"$work/log" 2>&1 || { echo "FAIL $case"; tail -n 20 "$work/log"; status=1; }
done
exit $status
