# A dtype, a device and a size as arguments.
import torch

@torch.compile
def f(x, dtype, size):
    return x.to(dtype).reshape(size)

x = torch.arange(4).float()
for dtype, size in ((torch.float64, (2, 2)), (torch.int32, (2, 2)), (torch.int32, torch.Size((4, 1))), (torch.float64, (2, 2))):
    y = f(x, dtype, size)
    print(y.dtype, y.tolist())
