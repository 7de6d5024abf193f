# A list holds an intermediate that is changed in place afterwards: identity and value both.
import torch

@torch.compile
def f(x, keep):
    y = x + 1
    keep.append(y)
    y.mul_(2)
    keep.append(y)
    z = y.clone()
    y.add_(100)
    return z

keep = []
print(f(torch.arange(3).float(), keep).tolist(), [t.tolist() for t in keep], keep[0] is keep[1])
