# Layer norm of bfloat16 rows. Only compiled where there is no card: its sizes are those of a benchmark.
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cuda"

x = torch.randn(32768, 4096, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
scale = torch.ones(4096, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
shift = torch.zeros(4096, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
normalize = torch.compile(lambda x, scale, shift: F.layer_norm(x, (4096,), scale, shift))
normalize(x, scale, shift).backward(torch.randn(32768, 4096, device=DEVICE, dtype=torch.bfloat16))
