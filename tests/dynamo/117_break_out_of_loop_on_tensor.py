# for with an early break on a tensor's value.
import torch

@torch.compile
def f(x):
    for i in range(10):
        x = x + 1
        if x.sum() > 20:
            break
    return x, i

x = torch.arange(4).float()
y, i = f(x)
print(y.tolist(), i)
