# An enum member as an argument and as an attribute.
import enum
import torch

class Mode(enum.Enum):
    ADD = 1
    MUL = 2

@torch.compile
def f(x, mode):
    if mode is Mode.ADD:
        return x + 1
    return x * mode.value

for mode in (Mode.ADD, Mode.MUL, Mode.ADD):
    print(f(torch.arange(3).float(), mode).tolist())
