# Gather, index, scatter
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
    i = torch.tensor([3, 1, 2, 1], device=x.device)
    y = x.sin()
    return y[i].exp().sum() + y.gather(1, i.view(4, 1)).sum() + torch.zeros(10, 8, device=x.device).index_add(0, i, y[:4].cos()).pow(2).sum()


train(f, torch.randn(10, 8, requires_grad=True))
