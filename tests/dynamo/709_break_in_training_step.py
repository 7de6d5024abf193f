# A print between forward and loss of a compiled step: both pieces have backwards.
import torch

w = torch.ones(2, requires_grad=True)

@torch.compile
def f(x):
    h = x * w
    print("loss")
    return (h * h).sum()

f(torch.tensor([1.0, 2.0])).backward()
print(w.grad.tolist())
