# One tensor read by many
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
    y = (x @ w).relu()
    return y.sum() + (y * y).sum() + y.exp().mean() + (y @ w.t()).tanh().sum()


train(f, torch.randn(64, 96, requires_grad=True), torch.randn(96, 80, requires_grad=True))
