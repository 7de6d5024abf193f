# The break is in the right operand: the left one waits on the stack.
import torch

def loud(x):
    print("loud")
    return x + 1

@torch.compile
def f(x):
    return x * 2 + loud(x) * 3

x = torch.arange(3).float()
print(f(x).tolist())
print(f(x).tolist())
