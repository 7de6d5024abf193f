# fullgraph=True and a print: an error of type Unsupported, and nothing is printed by the function.
# output: compiled
import torch

@torch.compile(fullgraph=True)
def f(x):
    y = x + 1
    print("never")
    return y

try:
    f(torch.arange(3).float())
except Exception as e:
    print(type(e).__name__)
