# mark_dynamic on a size that the program specializes: an error.
# output: compiled
import torch

@torch.compile
def f(x):
    if x.shape[0] == 4:
        return x + 1
    return x - 1

x = torch.ones(4)
torch._dynamo.mark_dynamic(x, 0)
try:
    print(f(x).tolist())
except Exception as e:
    print(type(e).__name__)
