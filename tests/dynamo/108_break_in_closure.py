# A nested function that prints and reads a variable of the outer one is called in the compiled function.
import torch

@torch.compile
def f(x):
    k = x.sum()

    def add(y):
        z = y + k
        print("add")
        return z * 2

    a = add(x)
    k = k + 1
    return a + add(x)

x = torch.arange(3).float()
print(f(x).tolist())
