# A custom autograd.Function with save_for_backward, needs_input_grad and a non-tensor argument.
import torch

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * ctx.k + x * 0, None

@torch.compile
def f(x, k):
    return Scale.apply(x, k).sum() + x.sum()

x = torch.arange(3).float().requires_grad_()
for k in (2, 3):
    x.grad = None
    f(x, k).backward()
    print(x.grad.tolist())
