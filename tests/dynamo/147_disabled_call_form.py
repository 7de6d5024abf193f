# torch.compiler.disable applied to a function at a call, with a reason.
import torch

def helper(x):
    return x * 5

off = torch.compiler.disable(helper, reason="kept eager")

@torch.compile
def f(x):
    return off(x + 1) + helper(x)

x = torch.arange(3).float()
print(f(x).tolist())
