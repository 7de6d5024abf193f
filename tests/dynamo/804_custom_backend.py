# A backend given as a function: it is called once a graph.
# output: compiled
import torch

seen = []

def backend(gm, inputs):
    seen.append(len(inputs))
    return gm.forward

@torch.compile(backend=backend)
def f(x, y):
    a = x + y
    print("break")
    return a * x

x = torch.arange(3).float()
print(f(x, x + 1).tolist(), seen)
print(f(x, x + 2).tolist(), seen)
