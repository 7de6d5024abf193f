# torch._dynamo.graph_break() at top level and inside an inlined function.
import torch

def helper(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2

@torch.compile
def f(x):
    a = x * 3
    torch._dynamo.graph_break()
    b = a + 1
    return helper(b) - a

print(f(torch.arange(3).float()).tolist())
