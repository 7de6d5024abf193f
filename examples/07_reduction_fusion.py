# pointwise + reduction + pointwise become one kernel: softmax of a scaled row is a product, a maximum, a difference, an exponential, a sum
# and a quotient, and each row goes through all of them while it is at hand. No intermediate is stored: `:memory` has none.
import torch

@torch.compile
def f(x):
    return torch.softmax(x * 0.125, -1)

torch.manual_seed(0)
x = torch.randn(32, 64)
print(round(f(x).sum().item(), 3))
#:explain f(x)
#:fusion
#:why %mul %amax
#:why fused
#:memory
#:kernel k0
