# copy.copy and copy.deepcopy of tensors: memory, leaves, gradients, and what is shared inside.
import copy
import torch

x = torch.arange(3.0)
w = torch.ones(3, requires_grad=True)
(w * x).sum().backward()

deep = copy.deepcopy(w)
assert deep.requires_grad and deep.is_leaf and deep is not w and deep.data_ptr() != w.data_ptr()
assert deep.grad is not w.grad and deep.grad.tolist() == [0.0, 1.0, 2.0]
flat = copy.copy(w)
assert flat is not w and flat.data_ptr() == w.data_ptr() and flat.requires_grad

held = copy.deepcopy([x, x, {"k": x}])
assert held[0] is held[1] and held[2]["k"] is held[0] and held[0] is not x
held[0].add_(1)
assert x.tolist() == [0.0, 1.0, 2.0]

layer = torch.nn.Linear(3, 2)
pair = copy.deepcopy([layer, layer.weight])
assert pair[0].weight is pair[1] and type(pair[1]) is torch.nn.Parameter and pair[1] is not layer.weight

try:
    copy.deepcopy(w * 2)
    assert False
except RuntimeError as error:
    assert "graph leaves" in str(error)


@torch.compile
def captured(t):
    mine = copy.deepcopy(t)
    mine += 1
    return mine


assert captured(x).tolist() == [1.0, 2.0, 3.0] and x.tolist() == [0.0, 1.0, 2.0]
print("ok")
