# A residual sum and its root mean square norm. Only compiled where there is no card: its sizes are those of a benchmark.
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cuda"

def normalized(x, residual, scale):
    total = x + residual
    wide = total.float()
    return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)).to(total.dtype) * scale


x, residual = [torch.randn(16384, 8192, device=DEVICE, dtype=torch.bfloat16, requires_grad=True) for _ in range(2)]
scale = torch.ones(8192, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
torch.compile(normalized)(x, residual, scale).backward(torch.randn(16384, 8192, device=DEVICE, dtype=torch.bfloat16))
