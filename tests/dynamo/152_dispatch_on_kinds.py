# A chain of tests on type and value of an argument, with a break in one arm only.
import torch

class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

@torch.compile
def f(x, what):
    if what in (1, 2):
        y = x + 1
    elif isinstance(what, list) and len(what) == 2:
        a, b = what
        y = x * a + b
    elif isinstance(what, dict) and "k" in what:
        y = x * what["k"]
    elif isinstance(what, Point):
        y = x * what.x + what.y
    elif isinstance(what, str) and len(what) > 2:
        y = x + len(what)
    else:
        print("default")
        y = x
    return y * 2

x = torch.arange(3).float()
for what in (1, [2, 3], {"k": 4}, Point(5, 6), "long", None):
    print(f(x, what).tolist())
