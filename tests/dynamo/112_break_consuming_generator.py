# A generator made in the frame is half used when the break comes, and is used up afterwards.
import torch

def numbers(x):
    for i in range(4):
        yield x + i

@torch.compile
def f(x):
    g = numbers(x)
    a = next(g)
    b = next(g)
    print("half")
    c = next(g)
    return a + b * 10 + c * 100

x = torch.arange(3).float()
print(f(x).tolist())
