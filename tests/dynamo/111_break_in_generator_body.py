# The body of a generator prints while the compiled function consumes it.
import torch

def numbers(x):
    for i in range(3):
        print("yield", i)
        yield x + i

@torch.compile
def f(x):
    total = x * 0
    for y in numbers(x):
        total = total + y
    return total

x = torch.arange(3).float()
print(f(x).tolist())
