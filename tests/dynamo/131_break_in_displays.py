# Breaks in a list, a tuple and a dict display: the elements made so far wait on the stack.
import torch

def note(v):
    print("note", v)
    return v

@torch.compile
def f(x):
    a = [x + 1, note(1), x + 2]
    b = {"p": x * 2, "q": note(2)}
    return a[0] + a[1] + a[2] + b["p"] * b["q"], (a[1], b["q"])

x = torch.arange(3).float()
y, t = f(x)
print(y.tolist(), t)
