# A print inside a context manager written with contextlib.
import contextlib
import torch

@contextlib.contextmanager
def region(name, log):
    log.append("enter " + name)
    yield
    log.append("exit " + name)

@torch.compile
def f(x, log):
    y = x + 1
    with region("a", log):
        y = y * 2
        print("inside", len(log))
        y = y + 1
    return y * 3

log = []
x = torch.arange(3).float()
print(f(x, log).tolist(), log)
