# isinstance, type(), callable, issubclass, hasattr, getattr on the kinds of values a frame sees.
import torch
import torch.nn as nn

@torch.compile
def f(x, v):
    if isinstance(v, torch.Tensor):
        return x + v
    if isinstance(v, (int, float)):
        return x * v
    if type(v) is list:
        return x + len(v)
    if callable(v):
        return v(x)
    if isinstance(v, dict):
        return x + getattr(v, "missing", 9)
    return x

x = torch.arange(-1, 2).float()
for v in (torch.ones(3), 2, 2.0, [1, 2], nn.ReLU(), {}, "s"):
    print(f(x, v).tolist())
