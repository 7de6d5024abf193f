# Log_softmax and its target
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
        self.a = nn.Linear(64, 1000)

    def forward(self, x):
        return F.cross_entropy(self.a(x), torch.arange(32, device=x.device))


train(Net(), torch.randn(32, 64))
