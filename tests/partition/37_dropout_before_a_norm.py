# Dropout, a residual, a layer norm without a shift. Only compiled where there is no card: its sizes are those of a benchmark.
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cuda"

x, residual = [torch.randn(32768, 2048, device=DEVICE, dtype=torch.bfloat16, requires_grad=True) for _ in range(2)]
scale = torch.ones(2048, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
normalize = torch.compile(lambda x, residual, scale: F.layer_norm(residual + F.dropout(x, 0.1, True), (2048,), scale))
normalize(x, residual, scale).backward(torch.randn(32768, 2048, device=DEVICE, dtype=torch.bfloat16))
