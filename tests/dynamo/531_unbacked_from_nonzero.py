# Sizes of a nonzero result used in arithmetic and as a size, with capture on.
import torch

torch._dynamo.config.capture_dynamic_output_shape_ops = True

@torch.compile
def f(x):
    i = torch.nonzero(x)
    return i.sum() + i.shape[0]

print(f(torch.tensor([0.0, 1.0, 2.0])).item(), f(torch.tensor([3.0, 1.0, 2.0])).item())
