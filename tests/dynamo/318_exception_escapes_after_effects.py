# Effects before an exception that leaves the frame have happened once; effects after it have not.
import torch

@torch.compile
def f(x, log, d):
    log.append("a")
    d["k"] = 1
    x.mul_(2)
    if len(log) > 0:
        raise KeyError("stop")
    log.append("b")
    return x

log, d = [], {}
x = torch.arange(3).float()
try:
    f(x, log, d)
except KeyError as e:
    print(e.args, log, d, x.tolist())
