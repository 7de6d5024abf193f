# An exception raised in the rest after a break, effects before and after.
import torch

@torch.compile
def f(x, log):
    log.append(1)
    y = x + 1
    print("break")
    log.append(2)
    if y.shape[0] == 3:
        raise ValueError("bad shape")
    return y

log = []
try:
    f(torch.arange(3).float(), log)
except ValueError as e:
    print(e, log)
