# A dataclass made in the frame, one given by the caller and changed, replace().
import dataclasses
import torch

@dataclasses.dataclass
class Config:
    scale: float
    shift: float = 1.0
    history: list = dataclasses.field(default_factory=list)

@torch.compile
def f(x, c):
    c.history.append(c.scale)
    c.scale = c.scale * 2
    d = Config(3.0)
    e = dataclasses.replace(d, shift=5.0)
    print("break", c.scale)
    return x * c.scale + d.shift + e.shift, d

c = Config(2.0)
y, d = f(torch.arange(3).float(), c)
print(y.tolist(), c, d)
