# A cell made in the frame, written by an inner function before and after a break.
import torch

@torch.compile
def f(x):
    n = 1

    def bump():
        nonlocal n
        n = n * 2

    bump()
    y = x + n
    print("break", n)
    bump()
    return y * n

print(f(torch.arange(3).float()).tolist())
