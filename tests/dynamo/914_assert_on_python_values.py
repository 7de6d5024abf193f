# assert on Python values: one that holds and one whose AssertionError escapes.
import torch

@torch.compile
def f(x):
    assert x.dim() == 1, "one dimension"
    return x + 1

print(f(torch.arange(3).float()).tolist())
try:
    f(torch.ones(2, 2))
except AssertionError as e:
    print("AssertionError", e)
print(f(torch.arange(3).float()).tolist())
