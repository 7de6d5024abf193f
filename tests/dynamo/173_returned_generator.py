# A generator made in the compiled function and returned is run by the caller.
import torch

def numbers(x):
    for i in range(3):
        yield x + i

@torch.compile
def f(x):
    y = x * 2
    return numbers(y)

print([t.tolist() for t in f(torch.arange(2).float())])
