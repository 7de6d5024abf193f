# fullgraph=True is silent where control flow is on Python values.
import torch

@torch.compile(fullgraph=True)
def f(x, mode, n):
    for i in range(n):
        if mode == "add":
            x = x + i
        elif mode == "mul":
            x = x * (i + 1)
        else:
            continue
    return x

x = torch.arange(3).float()
print(f(x, "add", 3).tolist(), f(x, "mul", 3).tolist(), f(x, "none", 3).tolist())
