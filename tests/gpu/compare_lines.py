#!/usr/bin/env python3
"""Compares two outputs of eager_programs.py line by line: names and words must be equal, numbers within what the dtype allows.

usage: compare_lines.py EXPECTED ACTUAL        prints a table by group; exit status 1 when a line differs
"""
import math
import sys

ALLOWED = {"float64": 1e-10, "float32": 3e-5, "bfloat16": 3e-2, "float16": 4e-3}


def close(a, b, part, scale):
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a == b
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y or abs(x - y) <= part * (abs(x) + scale)


def same(expected, actual):
    left, right = expected.split(" | "), actual.split(" | ")
    if len(left) != len(right) or left[:2] != right[:2]:
        return False
    if len(left) < 4:
        return left == right
    part = ALLOWED.get(left[1].split()[0], 0)
    numbers, totals = left[2].split(), left[3].split()
    finite = [abs(float(n)) for n in numbers if math.isfinite(float(n))]
    scale = max(finite + [1e-3]) if part else 0
    if len(numbers) != len(right[2].split()):
        return False
    mass = float(totals[1]) if part else 0
    return all(close(a, b, part, scale) for a, b in zip(numbers, right[2].split())) and all(close(a, b, part, mass) for a, b in zip(totals, right[3].split()))


def main():
    expected, actual = (open(path, encoding="utf-8").read().splitlines() for path in sys.argv[1:3])
    groups, wrong = {}, []
    for i, line in enumerate(expected):
        group = line.split(" | ")[0].split()[0].split(".")[0]
        other = actual[i] if i < len(actual) else "nothing"
        good = same(line, other)
        count = groups.setdefault(group, [0, 0])
        count[0] += good
        count[1] += 1
        if not good:
            wrong.append((line, other))
    for group, (good, count) in groups.items():
        print(f"{group:12} {good:5} of {count}")
    for line, other in wrong[:40]:
        print(f"- {line[:300]}\n+ {other[:300]}")
    if len(expected) != len(actual):
        print(f"{len(expected)} and {len(actual)} lines")
    return 1 if wrong or len(expected) != len(actual) else 0


if __name__ == "__main__":
    sys.exit(main())
