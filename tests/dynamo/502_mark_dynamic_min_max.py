# mark_dynamic with min and max, and a size outside.
import torch

@torch.compile
def f(x):
    if x.shape[0] < 100:
        return x + 1
    return x - 1

for n in (3, 5, 9):
    x = torch.ones(n)
    torch._dynamo.mark_dynamic(x, 0, min=2, max=10)
    print(f(x).tolist())
x = torch.ones(20)
print(f(x).sum().item())
