# Augmented assignment to a name, a list element and an attribute with a break on the right side.
import torch

class Box:
    pass

def note(v):
    print("note", v)
    return v

@torch.compile
def f(x, items, box):
    y = x + 1
    y += note(1)
    items[0] += note(2)
    box.total += note(3)
    return y * items[0] + box.total

box = Box()
box.total = 10
items = [5]
x = torch.arange(3).float()
print(f(x, items, box).tolist(), items, box.total)
