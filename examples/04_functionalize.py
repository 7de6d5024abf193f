# x.add_(1) becomes add; what the caller must see is written once, at the end: a copy into x is what remains of the mutation.
import torch

@torch.compile
def f(x):
    x.add_(1)
    y = x * 2
    x.mul_(3)
    return y

x = torch.arange(4.0)
y = f(x)
print(x.tolist(), y.tolist())
#:graph joint
#:graph functional
