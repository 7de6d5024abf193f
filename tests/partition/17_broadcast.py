# A small operand beside a large result
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cpu"


def train(f, *inputs):
    """One step of the compiled function: every result summed, then backward."""
    f = f.to(DEVICE) if isinstance(f, nn.Module) else f
    inputs = [x.detach().to(DEVICE).requires_grad_(x.requires_grad) for x in inputs]
    torch.compile(f)(*inputs).float().sum().backward()


def f(a, b):
    return ((a.exp().unsqueeze(1) * b.sin().unsqueeze(0)).sigmoid()).sum(1)


train(f, torch.randn(300, requires_grad=True), torch.randn(400, requires_grad=True))
