# log_softmax is one node for Dynamo, _log_softmax for autograd, and five cheap ops after decomposition: maximum, difference, exponential, sum, logarithm.
import torch
import torch.nn.functional as F

@torch.compile
def f(x):
    return F.log_softmax(x, dim=-1)

x = torch.tensor([[1000.0, 0.0, -1000.0], [1.0, 2.0, 4.0]])
print([round(v, 4) for v in f(x).flatten().tolist()])
#:graph dynamo
#:graph joint
#:graph decomposed
#:op _log_softmax
