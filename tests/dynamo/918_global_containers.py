# Global dicts and lists of tensors and numbers read by a compiled function; changed outside between calls.
import torch

table = {"w": torch.ones(3), "k": 2}
items = [1, 2, 3]

@torch.compile
def f(x):
    return x * table["w"] * table["k"] + items[-1] + len(table)

x = torch.arange(3).float()
print(f(x).tolist())
table["k"] = 3
print(f(x).tolist())
table["w"] = torch.ones(3) * 2
print(f(x).tolist())
table["more"] = 0
print(f(x).tolist())
items.append(9)
print(f(x).tolist())
