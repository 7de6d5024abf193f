# A print in the body of try/except: the frame is skipped, the function called in it is compiled.
import torch

def work(x):
    return x * 2 + 1

@torch.compile
def f(x):
    x = x + 1
    try:
        x = work(x)
        print("in try")
        x = x + 1
    except ValueError:
        x = x - 1
    return x

x = torch.arange(3).float()
print(f(x).tolist())
