# An iterator given by the caller is advanced in the compiled function; the caller sees where it stands.
import torch

@torch.compile
def f(x, it):
    a = next(it)
    b = next(it)
    return x * a + b

it = iter([2, 3, 4, 5])
x = torch.arange(3).float()
print(f(x, it).tolist(), next(it))
