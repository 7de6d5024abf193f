# torch.compile of modules: a module around them, also as a part of others.
import copy
import torch
import torch.nn as nn

m = torch.compile(nn.Linear(2, 2))
assert isinstance(m, nn.Module) and not isinstance(m, nn.Linear) and type(m).__name__ == "OptimizedModule"
assert list(m.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
assert [n for n, _ in m.named_modules()] == ["", "_orig_mod"] and [type(c).__name__ for c in m.children()] == ["Linear"]
assert m.weight is m._orig_mod.weight and m.in_features == 2
m.eval()
assert not m.training and not m._orig_mod.training
m._orig_mod.train()
assert m.training
m.extra = 5
assert m._orig_mod.extra == 5
del m.extra
assert not hasattr(m, "extra")
other = torch.compile(nn.Linear(2, 2))
assert str(other.load_state_dict(m.state_dict())) == "<All keys matched successfully>"
x = torch.randn(3, 2)
assert torch.equal(m(x), other(x))
other._orig_mod.load_state_dict({k.replace("_orig_mod.", ""): v * 2 for k, v in m.state_dict().items()})
assert torch.allclose(other(x), 2 * m(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.compile(nn.Linear(2, 2))
        self.b = nn.Sequential(torch.compile(nn.Linear(2, 3)), nn.ReLU())

    def forward(self, x):
        return self.b(self.a(x))


net = Net()
assert [n for n, _ in net.named_parameters()] == ["a._orig_mod.weight", "a._orig_mod.bias", "b.0._orig_mod.weight", "b.0._orig_mod.bias"]
torch._dynamo.reset()
want = net(x)
want.sum().backward()
assert all([p.grad is not None for p in net.parameters()])
whole = torch.compile(net, fullgraph=True)
assert torch.allclose(whole(x), want)
made = copy.deepcopy(net)
with torch.no_grad():
    made.a.weight.zero_()
assert net.a.weight.abs().sum() > 0 and torch.allclose(made(x), made.b(made.a.bias.expand(3, 2)))

# Layer by layer, as large models are compiled
stack = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
plain = list(stack)
for i, layer in enumerate(stack):
    stack[i] = torch.compile(layer)
y = z = x
for layer, compiled in zip(plain, stack):
    y, z = layer(y), compiled(z)
assert torch.allclose(y, z)

seen = []
handle = m.register_forward_hook(lambda module, args, result: seen.append(type(module).__name__))
m(x)
handle.remove()
m(x)
assert seen == ["OptimizedModule"], seen

print("ok")
