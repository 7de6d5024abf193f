# Views of what is saved
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cpu"


def train(f, *inputs):
    """One step of the compiled function: every result summed, then backward."""
    f = f.to(DEVICE) if isinstance(f, nn.Module) else f
    inputs = [x.detach().to(DEVICE).requires_grad_(x.requires_grad) for x in inputs]
    torch.compile(f)(*inputs).float().sum().backward()


def f(x, w):
    y = (x @ w).tanh()
    return y.t().reshape(-1)[10:].exp().sum() + y[:, ::2].sin().sum() + y.view(2, -1).cumsum(1).sum()


train(f, torch.randn(40, 30, requires_grad=True), torch.randn(30, 50, requires_grad=True))
