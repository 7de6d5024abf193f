# mark_static on a size that would turn dynamic; maybe_mark_dynamic on one that is specialized.
import torch

@torch.compile
def f(x):
    return x + 1

for n in (2, 3, 4):
    x = torch.ones(n)
    torch._dynamo.mark_static(x, 0)
    print(f(x).tolist())

@torch.compile
def g(x):
    return x + 1 if x.shape[0] == 3 else x - 1

x = torch.ones(3)
torch._dynamo.maybe_mark_dynamic(x, 0)
print(g(x).tolist(), g(torch.ones(4)).tolist())
