# Pre-norm, scaled_dot_product_attention
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
        self.n1, self.n2 = nn.LayerNorm(128), nn.LayerNorm(128)
        self.qkv, self.out, self.a, self.b = nn.Linear(128, 384), nn.Linear(128, 128), nn.Linear(128, 512), nn.Linear(512, 128)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))
        return x + self.b(F.gelu(self.a(self.n2(x)), approximate="tanh"))


train(Net(), torch.randn(2, 32, 128))
