# A matrix product alone goes to the library. With a bias and a relu behind it, choose weighs the library's call with an epilogue against
# the library's call and one fused kernel, and says why it took what it took.
import torch

def alone(x, w):
    return x @ w

def with_epilogue(x, w, b):
    return torch.relu(torch.addmm(b, x, w))

torch.manual_seed(0)
x, w, b = torch.randn(64, 64), torch.randn(64, 64), torch.randn(64)
print(torch.allclose(torch.compile(alone)(x, w), alone(x, w), atol=1e-4))
#:why extern
#:explain alone(x, w)
print(torch.allclose(torch.compile(with_epilogue)(x, w, b), with_epilogue(x, w, b), atol=1e-4))
#:explain with_epilogue(x, w, b)
#:why extern
