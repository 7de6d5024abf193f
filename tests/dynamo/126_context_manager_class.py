# A context manager class without a break, then with one.
import torch

class Region:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, value, trace):
        self.log.append("out")
        return False

@torch.compile
def clean(x, log):
    with Region(log) as r:
        y = x * 2
    return y + len(r.log)

@torch.compile
def broken(x, log):
    with Region(log) as r:
        y = x * 2
        print("broken")
        y = y + 1
    return y + len(r.log)

x = torch.arange(3).float()
log = []
print(clean(x, log).tolist(), log)
print(broken(x, log).tolist(), log)
