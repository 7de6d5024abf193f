# matmul + bias + relu: what is left of three eager launches, and of their traffic?
#
# One kernel, says the article. By default it is two launches: the product stays a call of the library (OpenBLAS here, cuBLAS on a card),
# and bias and relu become one generated kernel, which reads the product once and writes once. One launch needs a library that takes bias
# and relu along (cuBLASLt does; OpenBLAS does not: `:why` says so). What fusion saves grows with the chain behind the product.
#
# Runs under PyTorch and under vitrine. Lines that start with '#:' are vitrine's commands; Python reads them as comments.
import torch

def f(x, w, b):
    y = x @ w
    z = y + b
    return torch.relu(z)

def longer(x, w, b):
    return torch.tanh(torch.relu(x @ w + b) * 0.5 + 1.0) * b

torch.manual_seed(0)
x = torch.randn(64, 128)
w = torch.randn(128, 256)
b = torch.randn(256)

print("f agrees with eager:", torch.allclose(torch.compile(f)(x, w, b), f(x, w, b), atol=1e-4))
#:explain f(x, w, b)
#:why %mm %add
#:why %add %relu
#:draw fusion
#:kernel k0
print("longer agrees with eager:", torch.allclose(torch.compile(longer)(x, w, b), longer(x, w, b), atol=1e-4))
#:explain longer(x, w, b)
