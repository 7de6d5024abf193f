# int, float and bool of Python arithmetic on sizes and arguments; round, divmod and bit operations.
import torch

@torch.compile
def f(x, n):
    a = int(n / 2) + round(n * 1.5) + (n << 1) + (n & 3) + (n ^ 1) + divmod(n, 3)[1]
    b = bool(n > 2)
    return x * a + (1 if b else 0), float(n) / 4

for n in (2, 3, 5, 7):
    y, q = f(torch.ones(2), n)
    print(y.tolist(), q)
