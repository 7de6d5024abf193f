# A method other than forward compiled; named_parameters, state_dict-like reads and buffers in the frame.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(2))
        self.register_buffer("b", torch.ones(2) * 3)

    def total(self, x):
        y = x
        for name, p in self.named_parameters():
            y = y + p * len(name)
        for name, p in self.named_buffers():
            y = y + p
        return y

net = Net()
f = torch.compile(net.total)
print(f(torch.arange(2).float()).tolist())
