# A print as the first statement, and one just before the return of a value that is ready: pieces without tensor work make no graph.
import torch

@torch.compile
def first(x):
    print("first")
    return x * 2

@torch.compile
def last(x):
    y = x * 3
    print("last")
    return y

@torch.compile
def only(x):
    print("only")
    return x

x = torch.arange(3).float()
print(first(x).tolist(), last(x).tolist(), only(x).tolist())
