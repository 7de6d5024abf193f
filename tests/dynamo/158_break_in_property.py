# A property that prints.
import torch

class Box:
    def __init__(self, x):
        self.x = x

    @property
    def value(self):
        print("value")
        return self.x * 2

@torch.compile
def f(box):
    return box.value + 1

print(f(Box(torch.arange(3).float())).tolist())
