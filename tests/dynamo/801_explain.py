# torch._dynamo.explain: numbers of graphs, breaks and ops.
# output: compiled
import torch

def f(x):
    y = x + 1
    print("break")
    z = y * 2
    if z.sum() > 0:
        return z + 1
    return z - 1

e = torch._dynamo.explain(f)(torch.arange(3).float())
print(e.graph_count, e.graph_break_count, e.op_count)
