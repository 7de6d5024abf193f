# train() and eval() of a module with dropout of probability one and batch norm.
import torch
import torch.nn as nn

net = nn.Sequential(nn.Dropout(1.0), nn.BatchNorm1d(2))
g = torch.compile(net)
x = torch.tensor([[2.0, 4.0], [6.0, 8.0]])
print(g(x).tolist())
net.eval()
print([[round(v, 4) for v in r] for r in g(x).tolist()])
net.train()
print(g(x).tolist())
