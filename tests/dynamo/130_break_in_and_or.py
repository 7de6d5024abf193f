# A break in the operands of and / or: only what Python evaluates is printed.
import torch

def yes(name):
    print("yes", name)
    return True

def no(name):
    print("no", name)
    return False

@torch.compile
def f(x):
    a = x + 1
    if no("a") and yes("b"):
        a = a * 10
    b = no("c") or yes("d")
    return a * 2 if b else a

x = torch.arange(3).float()
print(f(x).tolist())
