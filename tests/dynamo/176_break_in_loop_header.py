# A break in the iterable of a for and in the condition of a while on Python values.
import torch

def note(v):
    print("note", v)
    return v

@torch.compile
def over(x):
    y = x + 1
    for i in range(note(3)):
        y = y * 2
    return y

@torch.compile
def until(x, n):
    y = x + 1
    while note(n) > 0:
        y = y * 2
        n -= 1
    return y

x = torch.arange(3).float()
print(over(x).tolist(), until(x, 2).tolist())
