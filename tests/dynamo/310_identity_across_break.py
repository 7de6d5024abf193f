# Aliases before a break are aliases after it: lists, tensors, objects.
import torch

@torch.compile
def f(x, l):
    a = l
    b = [x + 1]
    c = {"b": b}
    y = b[0]
    print("break", a is l, c["b"] is b)
    b.append(y)
    a.append(7)
    return a is l, c["b"] is b, b[0] is b[1], len(c["b"]), y * 2

l = []
r = f(torch.arange(3).float(), l)
print(r[:4], r[4].tolist(), l)
