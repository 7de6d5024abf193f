# Each needs the one before
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cpu"


def train(f, *inputs):
    """One step of the compiled function: every result summed, then backward."""
    f = f.to(DEVICE) if isinstance(f, nn.Module) else f
    inputs = [x.detach().to(DEVICE).requires_grad_(x.requires_grad) for x in inputs]
    torch.compile(f)(*inputs).float().sum().backward()


def f(x):
    return x.sin().cos().exp().sqrt().log1p()


train(f, torch.rand(1000, 100).requires_grad_())
