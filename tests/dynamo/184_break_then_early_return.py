# Returns from several places behind a break.
import torch

@torch.compile
def f(x, n):
    y = x + 1
    print("break")
    if n == 0:
        return y
    if n == 1:
        return y * 2, n
    for i in range(n):
        y = y + i
        if i == 3:
            return [y]
    return None

x = torch.arange(3).float()
print(f(x, 0).tolist(), f(x, 1)[0].tolist(), f(x, 2), f(x, 5)[0].tolist())
