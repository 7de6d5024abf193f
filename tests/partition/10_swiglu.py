# Silu(a) * b
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
        self.a, self.b, self.c = nn.Linear(128, 344, bias=False), nn.Linear(128, 344, bias=False), nn.Linear(344, 128, bias=False)

    def forward(self, x):
        return self.c(F.silu(self.a(x)) * self.b(x))


train(Net(), torch.randn(64, 128, requires_grad=True))
