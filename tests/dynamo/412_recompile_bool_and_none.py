# True, False and None as arguments.
import torch

@torch.compile
def f(x, flag):
    if flag is None:
        return x
    return x + 1 if flag else x - 1

for flag in (True, False, None, True, None):
    print(f(torch.arange(3).float(), flag).tolist())
