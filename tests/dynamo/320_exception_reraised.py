# raise ... from, bare raise and a handler outside; the context of the exception.
import torch

@torch.compile
def f(x, flag):
    try:
        if flag:
            raise ValueError("inner")
        return x + 1
    except ValueError as e:
        raise RuntimeError("outer") from e

x = torch.arange(3).float()
print(f(x, False).tolist())
try:
    f(x, True)
except RuntimeError as e:
    print(e, type(e.__cause__).__name__, e.__cause__)
