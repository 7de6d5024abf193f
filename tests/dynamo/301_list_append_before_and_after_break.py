# A caller's list is changed before and after a break, and printed in it.
import torch

@torch.compile
def f(x, log):
    log.append(1)
    y = x + 1
    print("log", log)
    log.append(y)
    log.insert(0, "first")
    return y * 2

log = []
print(f(torch.arange(3).float(), log).tolist(), len(log), log[0], log[2].tolist())
