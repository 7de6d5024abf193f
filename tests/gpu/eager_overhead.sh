#!/usr/bin/env bash
# Host overhead of eager ops on the card, beside PyTorch's in the same run where it is installed. Fails when an op that is one kernel takes more than 5 us
# (LIMIT_US sets another limit).
set -u
cd "$(dirname "$0")/../.." || exit 2
"$VITRINE" --device cuda -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1 || { echo "no card: $("$VITRINE" --version | grep -i driver)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$VITRINE" tests/gpu/eager_overhead.py >"$work/vitrine" || exit 1
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    python3 tests/gpu/eager_overhead.py >"$work/torch" || exit 1
else
    : >"$work/torch"
fi
awk -v limit="${LIMIT_US:-5}" '
    FILENAME ~ /torch$/ { torch[$1] = $2; next }
    FNR == 1 { printf "%-12s %10s %10s\n", "op", "vitrine us", "torch us" }
    { printf "%-12s %10.2f %10s\n", $1, $2, $1 in torch ? torch[$1] : "-"; if ($2 > limit && $1 != "matmul") slow = slow " " $1 }
    END { if (slow) { print "over " limit " us:" slow; exit 1 } }' "$work/torch" "$work/vitrine"
