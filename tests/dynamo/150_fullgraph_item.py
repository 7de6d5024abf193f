# fullgraph=True and .item(), a data-dependent shape, and a disabled function: three errors.
# output: compiled
import torch

@torch.compile(fullgraph=True)
def item(x):
    return x * x.sum().item()

@torch.compile(fullgraph=True)
def shape(x):
    return torch.nonzero(x) + 1

@torch.compiler.disable
def off(x):
    return x

@torch.compile(fullgraph=True)
def disabled(x):
    return off(x) + 1

for g in (item, shape, disabled):
    try:
        g(torch.arange(3).float())
        print("no error")
    except Exception as e:
        print(type(e).__name__)
