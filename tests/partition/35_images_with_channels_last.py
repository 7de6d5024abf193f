# A convolution, its batch norm and relu. Only compiled where there is no card: its sizes are those of a benchmark.
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cuda"

layers = nn.Sequential(nn.Conv2d(128, 128, 3, padding=1, bias=False), nn.BatchNorm2d(128), nn.ReLU()).to(DEVICE, torch.bfloat16).to(memory_format=torch.channels_last)
images = torch.randn(64, 128, 56, 56, device=DEVICE, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
torch.compile(layers)(images).float().square().mean().backward()
