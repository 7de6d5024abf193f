# A print in the handler of an exception that was raised while tracing.
import torch

@torch.compile
def f(x):
    y = x + 1
    try:
        if x.shape[0] == 3:
            raise ValueError("three")
        y = y * 2
    except ValueError as e:
        print("handler", e)
        y = y * 10
    return y + 1

x = torch.arange(3).float()
print(f(x).tolist())
