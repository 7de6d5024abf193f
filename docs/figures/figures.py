# The figures of README, made by vitrine in this folder: vitrine figures.py
import torch

def gate(x, w, b):
    y = torch.relu(x @ w + b)
    return torch.softmax(y * 0.125, -1)

def loss(x, w, b):
    return torch.sigmoid(x @ w + b).mean()

x, w, b = torch.randn(256, 64), torch.randn(64, 256), torch.randn(256)
#:compile gate(x, w, b)
#:draw fusion fusion.svg
w.requires_grad_()
b.requires_grad_()
#:compile loss(x, w, b)
#:draw partition partition.svg
