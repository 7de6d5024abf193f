# The limit is reached by a helper's rest after a break, not by the function itself.
import torch

@torch.compile
def f(x, s):
    y = x + 1
    print("break")
    return y + len(s)

x = torch.arange(2).float()
for i in range(10):
    print(f(x, "s" * i).tolist())
