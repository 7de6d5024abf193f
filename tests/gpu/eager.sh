#!/usr/bin/env bash
# Eager ops on the card against the CPU: every line of eager_programs.py, and no CUDA compiler call for new shapes of a known class.
set -u
cd "$(dirname "$0")/../.." || exit 2
"$VITRINE" --device cuda -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1 || { echo "no card: $("$VITRINE" --version | grep -i driver)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pieces=$(nproc)
run_piece() {
    sed -e "s/^DEVICE *=.*/DEVICE = \"$1\"/" -e "s/^PIECE, PIECES *=.*/PIECE, PIECES = $2, $pieces/" tests/gpu/eager_programs.py >"$work/$1.$2.py"
    "$VITRINE" "$work/$1.$2.py" >"$work/$1.$2.out" 2>"$work/$1.$2.err" || { echo "FAIL: piece $2 ended early on $1"; tail -n 20 "$work/$1.$2.err"; touch "$work/early"; }
}
for device in cpu cuda; do
    start=$(date +%s)
    for ((piece = 0; piece < pieces; piece++)); do run_piece $device $piece & done
    wait
    for ((piece = 0; piece < pieces; piece++)); do cat "$work/$device.$piece.out"; done >"$work/$device.out"
    echo "$device: $(wc -l <"$work/$device.out") lines in $(($(date +%s) - start)) s, $pieces processes"
    cat "$work/$device".*.err | sort | uniq -c | sort -rn | head -n 5
done
status=0
[ -e "$work/early" ] && status=1
python3 tests/gpu/compare_lines.py "$work/cpu.out" "$work/cuda.out" || status=1

# Shapes of known classes: the disk cache gets no new file, because no compiler is called.
cat >"$work/shapes.py" <<'PROGRAM'
import torch
for n in SIZES:
    x = torch.ones(n, 4 * n, device="cuda")
    y = x * 0.5 + x
    y.relu_(); (y + y[0]).exp(); x.t().contiguous()
    torch.arange(4 * n, device="cuda") * 2
torch.cuda.synchronize()
PROGRAM
sed 's/SIZES/(9, 18)/' "$work/shapes.py" >"$work/few.py"
sed 's/SIZES/range(3, 200, 7)/' "$work/shapes.py" >"$work/many.py"
"$VITRINE" "$work/few.py" || status=1
before=$(find "$VITRINE_CACHE_DIR" -name '*.cubin' | wc -l)
"$VITRINE" "$work/many.py" || status=1
after=$(find "$VITRINE_CACHE_DIR" -name '*.cubin' | wc -l)
echo "compiled units before and after 29 new shapes: $before $after"
[ "$before" = "$after" ] || status=1
exit $status
