# A product alone goes to the library. With something behind it there is a choice: the library's call and one fused kernel, or a call that
# takes bias and relu along. `choose` weighs what the library of the device can do and what has to be read in any case, and leaves its
# reason. On the CPU OpenBLAS takes nothing along, so a kernel does the rest; on a card cuBLASLt can take bias and relu. The
# reason gives the bytes that decided.
import torch

def alone(x, w):
    return x @ w

def with_epilogue(x, w, b):
    return torch.relu(torch.addmm(b, x, w))

torch.manual_seed(0)
x, w, b = torch.randn(64, 64), torch.randn(64, 64), torch.randn(64)
print("alone:", torch.allclose(torch.compile(alone)(x, w), alone(x, w), atol=1e-4))
#:explain alone(x, w)
#:why extern
#:graph wrapper
print("with an epilogue:", torch.allclose(torch.compile(with_epilogue)(x, w, b), with_epilogue(x, w, b), atol=1e-4))
#:explain with_epilogue(x, w, b)
#:why epilogue
#:graph wrapper
