# Exceptions raised in helpers and caught in the frame by class, by tuple, by else and finally; all while tracing.
import torch

class Special(ValueError):
    def __init__(self, n):
        super().__init__(f"n={n}")
        self.n = n

def check(x, n):
    if n == 1:
        raise Special(5)
    if n == 2:
        raise KeyError("k")
    return x + 1

@torch.compile
def f(x, n):
    log = []
    try:
        y = check(x, n)
    except Special as e:
        y = x * e.n
        log.append(str(e))
    except (KeyError, IndexError):
        y = x * 7
        log.append("key")
    else:
        y = x * 2
        log.append("else")
    finally:
        log.append("finally")
    return y, log

for n in (0, 1, 2):
    y, log = f(torch.arange(3).float(), n)
    print(y.tolist(), log)
