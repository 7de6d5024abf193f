# Dynamo reads the frame's bytecode instruction by instruction; tensor operations become nodes, the rest is done on the way.
# BINARY_OP stands for every operator since CPython 3.11; a Python loop over a range is unrolled, an attribute is read and guarded.
import torch

def f(x):
    y = x.exp()
    for i in range(2):
        y = y * (i + 1)
    return y.sum()

x = torch.linspace(-1.0, 1.0, 5)
print(round(torch.compile(f)(x).item(), 4))
#:bytecode
#:graph dynamo
#:guards
