# str methods, formatting, int/float/round/divmod/pow/abs on constants while tracing.
import torch

@torch.compile
def f(x, name):
    parts = name.upper().split("_")
    key = "-".join(reversed(parts))
    n = len(key) + key.count("A") + key.find("B")
    q, r = divmod(17, 5)
    k = int("7") + round(2.6) + pow(2, 3) + abs(-4)
    return x * n + q + r + k, key, f"{n:03d}|{name!r}"

y, key, text = f(torch.arange(3).float(), "a_b_a")
print(y.tolist(), key, text)
