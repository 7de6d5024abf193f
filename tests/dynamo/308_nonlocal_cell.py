# A closure cell changed by an inner function, read after a break and by the caller's own closure.
import torch

def make():
    n = 0
    total = torch.zeros(3)

    @torch.compile
    def f(x):
        nonlocal n, total
        n += 1
        total = total + x
        print("n", n)
        n += 10
        return total * n

    def read():
        return n, total.tolist()

    return f, read

f, read = make()
x = torch.arange(3).float()
print(f(x).tolist(), read())
print(f(x).tolist(), read())
