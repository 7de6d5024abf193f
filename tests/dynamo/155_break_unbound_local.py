# A name that is not bound at the break is read afterwards: UnboundLocalError as in Python.
import torch

@torch.compile
def f(x, flag):
    if flag:
        w = x + 1
    print("break")
    return w * 2

x = torch.arange(3).float()
print(f(x, True).tolist())
try:
    f(x, False)
except UnboundLocalError as e:
    print(type(e).__name__)
