# Breaks in dict and generator expressions consumed in the frame.
import torch

def note(v):
    print("note", v)
    return v

@torch.compile
def f(x):
    y = x + 1
    d = {k: y * note(k) for k in (1, 2)}
    return d[1] + d[2]

@torch.compile
def g(x):
    y = x + 1
    return y * sum(note(k) for k in (1, 2))

x = torch.arange(3).float()
print(f(x).tolist(), g(x).tolist())
