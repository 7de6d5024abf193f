# id() of an object and vars() of one, input() never reached: builtins that Dynamo cannot fold on such values.
import torch

class Box:
    pass

@torch.compile
def f(x, b):
    y = x + 1
    same = id(b) == id(b)
    z = y * 2
    n = len(vars(b))
    return z + n + (1 if same else 0)

b = Box()
b.a = 1
print(f(torch.arange(3).float(), b).tolist())
