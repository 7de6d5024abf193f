# Autograd is traced into one joint graph, and a minimum cut divides it in two: what crosses is saved by forward and read by backward.
# No rule that saves everything: here the product is saved, and the chain of cheap ops behind it is computed again from it.
#
# The plain cut minimizes the bytes that are saved, under bans on recomputing what is dear; that is a choice of what crosses, and not yet
# a trade of time for memory (which needs a memory budget).
import torch

@torch.compile
def f(x, w):
    h = x @ w
    a = torch.sigmoid(h) * h
    b = torch.tanh(a) + a * 0.5
    return torch.exp(-b * b).sum()

x = torch.linspace(0.0, 1.0, 24).reshape(4, 6)
w = torch.linspace(-0.5, 0.5, 48).reshape(6, 8).requires_grad_()
loss = f(x, w)
loss.backward()
print(round(loss.item(), 4), round(w.grad.abs().sum().item(), 4))
#:explain f(x, w)
#:graph forward
#:graph backward
#:saved
#:why saved %mm
#:why recomputed %tanh
