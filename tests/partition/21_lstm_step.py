# Gates of one cell, four steps
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
        self.a, self.b = nn.Linear(32, 256), nn.Linear(64, 256)

    def forward(self, x):
        h, c = torch.zeros(8, 64, device=x.device), torch.zeros(8, 64, device=x.device)
        for t in range(4):
            i, f, g, o = (self.a(x[t]) + self.b(h)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return h


train(Net(), torch.randn(4, 8, 32))
