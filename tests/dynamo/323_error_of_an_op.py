# A shape error in the middle, caught outside: what was done before has happened.
import torch

@torch.compile
def f(x, y, log):
    log.append("before")
    x.add_(1)
    z = x @ y
    log.append("after")
    return z

log = []
x = torch.ones(2, 3)
try:
    f(x, torch.ones(2, 3), log)
except RuntimeError as e:
    print(type(e).__name__, log)
print(f(torch.ones(2, 3), torch.ones(3, 1), log).tolist(), log)
