# A lambda that prints is called in the compiled function, twice on one line.
import torch

say = lambda x: (print("lambda"), x + 1)[1]

@torch.compile
def f(x):
    a = x * 2
    b = say(a) + say(x)
    return b * a

x = torch.arange(3).float()
print(f(x).tolist())
