# What crosses from forward to backward is chosen by a minimum cut: here one saved tensor from which the backward recomputes a chain of cheap ops.
import torch

@torch.compile
def f(x, w):
    h = x @ w
    a = torch.sigmoid(h) * h
    b = torch.tanh(a) + a * 0.5
    return torch.exp(-b * b).sum()

x = torch.linspace(-1.0, 1.0, 24).reshape(4, 6)
w = torch.linspace(-0.5, 0.5, 48).reshape(6, 8).requires_grad_()
f(x, w).backward()
print(round(w.grad.sum().item(), 4))
#:saved
#:graph forward
#:graph backward
#:why saved
#:why recomputed
