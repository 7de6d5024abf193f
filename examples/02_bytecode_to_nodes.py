# Dynamo reads the frame's bytecode, instruction by instruction. What touches tensors becomes a node; the rest is done while reading:
# the loop over a range is unrolled, i + 1 is computed, the attribute is looked up and guarded. The frame that runs afterwards is new
# bytecode that calls the graph.
#
# The article's BINARY_MATRIX_MULTIPLY is BINARY_OP (@) since CPython 3.11. And not every `if` breaks a graph: this one asks a Python
# value, which a guard remembers.
import torch

class Scale:
    factor = 3

def f(x, w, scale, deep):
    y = x @ w
    for i in range(2):
        y = y * (i + 1)
    if deep:
        y = y.exp()
    return y * scale.factor

x, w = torch.ones(2, 3), torch.full((3, 4), 0.25)
print(torch.compile(f)(x, w, Scale(), True))
#:bytecode
#:graph dynamo
#:guards
