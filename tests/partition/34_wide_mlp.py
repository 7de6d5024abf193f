# Three wide layers in bfloat16. Only compiled where there is no card: its sizes are those of a benchmark.
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cuda"

class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.middle, self.leave = nn.Linear(1024, 4096), nn.Linear(4096, 4096), nn.Linear(4096, 1024)

    def forward(self, x):
        return self.leave(F.gelu(self.middle(F.relu(self.enter(x)))))


model = Wide().to(DEVICE, torch.bfloat16)
torch.compile(model)(torch.randn(8192, 1024, device=DEVICE, dtype=torch.bfloat16)).float().square().mean().backward()
