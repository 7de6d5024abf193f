# Parameters read twice
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cpu"


def train(f, *inputs):
    """One step of the compiled function: every result summed, then backward."""
    f = f.to(DEVICE) if isinstance(f, nn.Module) else f
    inputs = [x.detach().to(DEVICE).requires_grad_(x.requires_grad) for x in inputs]
    torch.compile(f)(*inputs).float().sum().backward()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(64, 64)

    def forward(self, x):
        return F.softplus(self.a(x)).sum() + 0.01 * sum((p * p).sum() for p in self.parameters())


train(Net(), torch.randn(32, 64))
