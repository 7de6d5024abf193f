# IndexError, KeyError, AttributeError, ZeroDivisionError, StopIteration of plain Python values caught while tracing.
import torch

@torch.compile
def f(x):
    n = 0
    try:
        [1, 2][5]
    except IndexError:
        n += 1
    try:
        {"a": 1}["b"]
    except KeyError:
        n += 10
    try:
        x.nothing
    except AttributeError:
        n += 100
    try:
        1 // 0
    except ZeroDivisionError:
        n += 1000
    try:
        next(iter([]))
    except StopIteration:
        n += 10000
    return x + n

print(f(torch.arange(3).float()).tolist())
