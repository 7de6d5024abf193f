# The first call pays for capture, for the passes and for the kernels' compiler; a later call pays for guards and launches. `:stages` tells
# the first apart stage by stage, so that one sees that it is not the kernel compiler alone; `:time` measures both.
# (Under --plain all times are hidden: run it without.)
import torch

def f(x, y):
    return torch.sin(x) * 1.5 + torch.cos(y)

torch.manual_seed(0)
x, y = torch.randn(256, 256), torch.randn(256, 256)
g = torch.compile(f)
for call in ("first", "second", "third"):
    print(call, "call:", torch.allclose(g(x, y), f(x, y), atol=1e-5))
#:cache
#:stages
#:time f(x, y)
