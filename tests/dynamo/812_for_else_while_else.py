# for/else, while/else, continue, break, nested loops with flags: all on Python values.
import torch

@torch.compile
def f(x, n):
    for i in range(n):
        if i == 3:
            break
        if i % 2:
            continue
        x = x + i
    else:
        x = x + 100
    k = n
    while k > 0:
        k -= 2
        for j in range(2):
            if j == k:
                break
            x = x + 1
    else:
        x = x * 2
    return x

print(f(torch.arange(3).float(), 2).tolist(), f(torch.arange(3).float(), 5).tolist())
