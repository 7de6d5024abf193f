# torch.compiler.is_compiling and is_dynamo_compiling choose a branch.
# output: compiled
import torch

@torch.compile
def f(x):
    if torch.compiler.is_compiling():
        return x + 1
    return x - 1

@torch.compile
def g(x):
    y = x * 2
    print("compiling", torch.compiler.is_compiling())
    return y + 1

x = torch.arange(3).float()
print(f(x).tolist(), g(x).tolist(), torch.compiler.is_compiling(), torch.compiler.is_dynamo_compiling())
