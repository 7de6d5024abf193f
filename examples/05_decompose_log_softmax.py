# log_softmax is one node for Dynamo and one for autograd (_log_softmax); decomposition writes it in five kinds of simple ops: maximum,
# difference, exponential, sum, logarithm. The maximum is subtracted first, so that exp(1000) never happens; fusion makes one kernel of all.
import torch
import torch.nn.functional as F

@torch.compile
def f(x):
    return F.log_softmax(x, dim=-1)

x = torch.tensor([[1000.0, 0.0, -1000.0], [1.0, 2.0, 4.0]])
print([[round(v, 4) for v in row] for row in f(x).tolist()])
#:graph dynamo
#:graph joint
#:graph decomposed
#:op _log_softmax
#:fusion
