# A shape error caught inside the compiled function.
import torch

@torch.compile
def f(x, y):
    try:
        z = x @ y
    except RuntimeError:
        z = x * 2
    return z + 1

print(f(torch.ones(2, 3), torch.ones(2, 3)).tolist())
print(f(torch.ones(1, 2), torch.ones(2, 1)).tolist())
