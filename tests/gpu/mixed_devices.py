# A compiled graph on a card with operands on the CPU: numbers as tensors, constants, indices; needs a card.
import torch


def scaled(x, s):
    return (x * s + torch.tensor(3.0)).sin()


def picked(x, i):
    return x[i] * 2


def refused(x, y):
    return x.sum() + y


x = torch.arange(6.0, device="cuda").reshape(2, 3)
for value in (2.0, -1.0):
    s = torch.tensor(value, device="cpu")
    assert torch.allclose(torch.compile(scaled)(x, s), scaled(x, s)), value
leaf = x.clone().requires_grad_()
torch.compile(scaled)(leaf, torch.tensor(2.0, device="cpu")).sum().backward()
assert torch.allclose(leaf.grad, 2 * torch.cos(x * 2 + 3), atol=1e-5)
i = torch.tensor([1, 0, 1], device="cpu")
assert torch.equal(torch.compile(picked)(x, i), picked(x, i))
try:
    torch.compile(refused)(x, torch.ones(3, device="cpu"))
    assert False, "several values on the CPU do not meet a card's"
except RuntimeError as error:
    assert "device" in str(error)
print("ok")
