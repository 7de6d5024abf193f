# try/except with continue in a loop, try/finally with return, nested handlers; exceptions of Python values only.
import torch

@torch.compile
def f(x, items):
    total = x
    for i in items:
        try:
            if i == 0:
                continue
            if i < 0:
                raise ValueError(i)
            total = total + 10 // i
        except ValueError:
            total = total * 2
        finally:
            total = total + 1
    return total

@torch.compile
def g(x, n):
    try:
        return x // n if n else x + [1][n + 1]
    except IndexError:
        return x * 5
    finally:
        x = x + 1

x = torch.arange(3).float()
print(f(x, [1, 0, -1, 5]).tolist(), g(x, 0).tolist(), g(x, 2).tolist())
