# A break, then an exception that the caller catches, then a call that succeeds.
import torch

@torch.compile
def f(x, n):
    y = x + 1
    print("n", n)
    if n > 2:
        raise ValueError("big")
    return y * n

x = torch.arange(3).float()
for n in (1, 3, 2):
    try:
        print(f(x, n).tolist())
    except ValueError as e:
        print("caught", e)
