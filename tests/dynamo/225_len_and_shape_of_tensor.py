# len(t), t.shape, t.size(), t.dim(), t.numel(), t.dtype, t.device are constants while tracing.
import torch

@torch.compile
def f(x):
    y = x * len(x) + x.shape[1] + x.size(0) + x.dim() + x.numel()
    if x.dtype == torch.float32 and x.device.type == "cpu":
        y = y + 1
    return y

print(f(torch.arange(6).float().reshape(2, 3)).tolist())
