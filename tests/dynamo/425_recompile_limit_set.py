# config.recompile_limit changed to 2.
import torch

torch._dynamo.config.recompile_limit = 2

@torch.compile
def f(x, s):
    return x + len(s)

x = torch.arange(2).float()
for s in ("a", "bb", "ccc", "dddd", "a"):
    print(f(x, s).tolist())
