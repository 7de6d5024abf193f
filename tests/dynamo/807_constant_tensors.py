# Tensors made in the frame from constants, with no tensor input.
import torch

@torch.compile
def f():
    return torch.ones(3) + torch.arange(3) * torch.tensor([1.0, 2.0, 3.0])

print(f().tolist(), f().tolist())
