# extend, pop, remove, reverse, sort, slice assignment, del, += on a caller's list.
import torch

@torch.compile
def f(x, l):
    l.extend([5, 4])
    l.pop(0)
    l.remove(4)
    l.reverse()
    l += [9, 8]
    l.sort()
    l[0:1] = [7, 7]
    del l[1]
    return x + l[0] + len(l)

l = [1, 2, 3]
print(f(torch.arange(3).float(), l).tolist(), l)
