# Bfloat16 between float32
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
        self.a = nn.Linear(128, 128)

    def forward(self, x):
        y = self.a(x).to(torch.bfloat16)
        return (torch.tanh(y) * y).float().pow(2)


train(Net(), torch.randn(64, 128))
