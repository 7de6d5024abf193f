# not, ==, != and `in` with tensor values in statements that can and cannot be resumed.
import torch

@torch.compile
def f(x):
    y = x * 2
    a = not y.sum()
    b = bool(y[0] == y[1])
    c = x[0] in (1.0, 2.0)
    return y + 1, a, b, c

for v in ([0.0, 0.0], [1.0, 2.0]):
    y, a, b, c = f(torch.tensor(v))
    print(y.tolist(), a, b, c)
