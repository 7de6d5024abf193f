# random.seed outside, random.randint and random.uniform inside: fresh numbers every call, the same as Python's.
import random
import torch

@torch.compile
def f(x):
    k = random.randint(1, 100)
    return x * k

random.seed(5)
a = [f(torch.ones(2)).tolist() for _ in range(3)]
random.seed(5)
b = [[float(random.randint(1, 100))] * 2 for _ in range(3)]
print(a == b)
