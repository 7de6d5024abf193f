# Huber, smooth l1, binary cross-entropy
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cpu"


def train(f, *inputs):
    """One step of the compiled function: every result summed, then backward."""
    f = f.to(DEVICE) if isinstance(f, nn.Module) else f
    inputs = [x.detach().to(DEVICE).requires_grad_(x.requires_grad) for x in inputs]
    torch.compile(f)(*inputs).float().sum().backward()


def f(x, y):
    return F.huber_loss(x, y) + F.smooth_l1_loss(x * 2, y) + F.binary_cross_entropy_with_logits(x, y.sigmoid()) + F.mse_loss(x.exp(), y)


train(f, torch.randn(100, 50, requires_grad=True), torch.randn(100, 50))
