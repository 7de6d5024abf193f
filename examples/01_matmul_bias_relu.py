# matmul + bias + relu: three eager kernels; after capture a library matmul and one fused kernel (or one library call with an epilogue).
# Runs under PyTorch and under vitrine. Lines that start with '#:' are vitrine's commands; Python reads them as comments.
import torch

def f(x, w, b):
    y = x @ w
    z = y + b
    return torch.relu(z)

torch.manual_seed(0)
x = torch.randn(64, 128)
w = torch.randn(128, 256)
b = torch.randn(256)

g = torch.compile(f)
print("same as eager:", torch.allclose(g(x, w, b), f(x, w, b), atol=1e-5))
#:explain f(x, w, b)
#:kernels
#:kernel k0
