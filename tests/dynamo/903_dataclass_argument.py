# A dataclass as an argument whose fields change: a guard a field that is read.
import dataclasses
import torch

@dataclasses.dataclass
class Options:
    scale: int = 2
    name: str = "a"
    unused: int = 0

@torch.compile
def f(x, o):
    return x * o.scale + len(o.name)

x = torch.arange(3).float()
for o in (Options(), Options(unused=5), Options(scale=3), Options(scale=4), Options(name="bb"), Options()):
    print(f(x, o).tolist())
