# Loss modules and functional losses in the compiled function.
import torch
import torch.nn as nn
import torch.nn.functional as F

mse = nn.MSELoss(reduction="sum")

@torch.compile
def f(x, y):
    return mse(x, y) + F.l1_loss(x, y, reduction="sum")

print(f(torch.arange(3).float(), torch.ones(3)).item())
