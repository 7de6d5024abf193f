# map, filter, zip, enumerate, reversed, any, all, sum, min, max with a break between making and consuming them.
import torch

@torch.compile
def f(x):
    m = map(lambda v: v * 2, [1, 2, 3])
    z = zip([x, x + 1], [10, 20])
    e = enumerate(["a", "b"], 5)
    a = next(m)
    print("made")
    total = a + sum(m)
    for t, k in z:
        x = x + t * k
    return x + total, list(e), any([0, 1]), all([]), max(3, 1, 2)

y, *rest = f(torch.arange(3).float())
print(y.tolist(), rest)
