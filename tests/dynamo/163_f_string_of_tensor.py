# An f-string of constants traces; one of a tensor's value breaks.
import torch

@torch.compile
def f(x, name):
    key = f"{name}_{x.shape[0]}"
    d = {"a_3": x + 1, "b_3": x + 2}
    y = d[key]
    text = f"{y.sum().item():.1f}"
    return y * 2, key, text

y, key, text = f(torch.arange(3).float(), "b")
print(y.tolist(), key, text)
