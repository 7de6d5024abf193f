#!/usr/bin/env python3
"""Compares what training.sh left in a folder: NAME.torch and NAME.vitrine. Prints a line a program; exit status 1 when one is out of its bounds."""
import math
import pathlib
import sys

BOUNDS = {"float32": 1e-4, "float64": 1e-7, "bfloat16": 2e-2, "float16": 4e-3}


def read(path):
    shown, text = {}, []
    for line in path.read_text().splitlines():
        if line.startswith("@ "):
            name, dtype, values = line[2:].split(" | ")
            shown[name] = (dtype, [float(v) for v in values.split()])
        else:
            text.append(line)
    return shown, text


def distance(a, b):
    size = math.sqrt(sum(x * x for x in a if math.isfinite(x)))
    apart = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b) if math.isfinite(x) or math.isfinite(y)))
    return apart / size if size > 1e-12 else apart


def compare(want, got):
    worst = {}
    wrong = [f"{name} is only in one" for name in want.keys() ^ got.keys()]
    for name in want.keys() & got.keys():
        (dtype, a), (other, b) = want[name], got[name]
        if dtype != other or len(a) != len(b):
            wrong.append(f"{name}: {dtype}[{len(a)}] and {other}[{len(b)}]")
            continue
        apart = distance(a, b)
        worst[dtype] = max(worst.get(dtype, 0), apart)
        if not apart <= BOUNDS[dtype]:
            wrong.append(f"{name}: {apart:.3g}")
    return worst, wrong


def main():
    folder, failed = pathlib.Path(sys.argv[1]), 0
    for path in sorted(folder.glob("*.torch")):
        (want, said), (got, printed) = read(path), read(path.with_suffix(".vitrine"))
        worst, wrong = compare(want, got)
        failed += bool(wrong or not want)
        print(f"{path.stem:32} {len(want):3} tensors, worst " + (", ".join(f"{dtype} {d:.2g}" for dtype, d in sorted(worst.items())) or "nothing") + ("" if said == printed else "; printed lines differ"))
        for line in wrong[:6]:
            print(f"    {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
