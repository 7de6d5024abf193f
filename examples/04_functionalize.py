# x.add_(1) becomes add, x.mul_(3) becomes mul: after functionalization no node changes anything. What the caller must see in x is
# written once, at the end: copy_ is what remains of both mutations, and the kernel does it with the store that it makes anyway.
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
#:draw functional
#:kernel k0
