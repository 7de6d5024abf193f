# Cross entropy over 50304 classes. Only compiled where there is no card: its sizes are those of a benchmark.
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cuda"

logits = torch.randn(8192, 50304, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
target = torch.randint(0, 50304, (8192,), device=DEVICE)
torch.compile(lambda logits, target: F.cross_entropy(logits.float(), target))(logits, target).backward()
