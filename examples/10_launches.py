# "Ten launches become one" is true of a chain of pointwise ops. A training step keeps its products: they stay calls of the library, and
# what lies between them is fused. A compiled call is guards, a wrapper and as many launches as `:explain` counts.
import torch

def chain(x):
    y = x
    for _ in range(4):
        y = torch.sin(y) * 0.5 + x
    return y

def step(x, w1, w2):
    h = torch.relu(x @ w1)
    return ((h @ w2) ** 2).mean()

torch.manual_seed(0)
x = torch.randn(64, 64)
w1, w2 = (torch.randn(64, 64) * 0.1).requires_grad_(), (torch.randn(64, 64) * 0.1).requires_grad_()
print("chain:", torch.allclose(torch.compile(chain)(x), chain(x), atol=1e-5))
#:time chain(x)
loss = torch.compile(step)(x, w1, w2)
loss.backward()
print("step:", torch.allclose(loss, step(x, w1, w2)), w1.grad.shape)
#:explain step(x, w1, w2)
#:why extern
