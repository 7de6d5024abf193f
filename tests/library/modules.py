# Modules: their parts, state, modes, hooks, text and containers.
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.first = nn.Linear(2, 3)
        self.second = nn.Linear(3, 3)
        self.third = nn.Linear(3, 3, bias=False)
        self.third.weight = self.second.weight
        self.register_buffer("seen", torch.zeros(2))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.register_parameter("nothing", None)

    def forward(self, x):
        return self.third(self.second(self.first(x * self.scale)))


def refuses(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError(f"no {kind.__name__}")


# parts, in order; what is shared counts once
net = Net()
names = ["scale", "first.weight", "first.bias", "second.weight", "second.bias"]
assert [name for name, p in net.named_parameters()] == names
assert [name for name, b in net.named_buffers()] == ["seen", "scratch"]
assert [name for name, m in net.named_modules()] == ["", "first", "second", "third"]
assert [name for name, m in net.named_children()] == ["first", "second", "third"]
assert [name for name, p in net.named_parameters(recurse=False)] == ["scale"]
assert len(list(net.parameters())) == 5 and len(list(net.modules())) == 4
assert net.get_submodule("first") is net.first and net.get_parameter("first.bias") is net.first.bias
refuses(AttributeError, lambda: net.get_submodule("fourth"))
refuses(AttributeError, lambda: net.missing)
refuses(KeyError, lambda: net.register_buffer("first.x", torch.zeros(1)))
refuses(KeyError, lambda: net.register_buffer("first", torch.zeros(1)))
refuses(TypeError, lambda: net.register_parameter("p", torch.zeros(1)))
refuses(NotImplementedError, lambda: nn.Module()(1))

# state
state = net.state_dict()
assert list(state) == ["scale", "seen", "first.weight", "first.bias", "second.weight", "second.bias", "third.weight"]
assert not state["scale"].requires_grad
other = Net()
assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
assert torch.equal(other.first.weight, net.first.weight) and other.first.weight is not net.first.weight
partial = {key: value for key, value in state.items() if key != "scale"}
partial["extra"] = torch.zeros(1)
message = refuses(RuntimeError, lambda: other.load_state_dict(partial))
assert message == 'Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "scale". \n\tUnexpected key(s) in state_dict: "extra". ', message
result = other.load_state_dict(partial, strict=False)
assert result.missing_keys == ["scale"] and result.unexpected_keys == ["extra"]
message = refuses(RuntimeError, lambda: other.load_state_dict({**state, "scale": torch.zeros(3)}))
assert "size mismatch for scale: copying a param with shape torch.Size([3]) from checkpoint, the shape in current model is torch.Size([2])." in message

# modes, dtypes, gradients
net.eval()
assert not net.training and not net.first.training and net.train().first.training
weight = net.first.weight
assert net.double() is net and net.first.weight is weight and weight.dtype == torch.float64 and net.seen.dtype == torch.float64
assert net.to(torch.bfloat16).scale.dtype == torch.bfloat16 and net.float().scale.dtype == torch.float32
assert net.to("cpu", torch.float16).scale.dtype == torch.float16
refuses(TypeError, lambda: net.to(torch.int64))
net.float()
net(torch.ones(1, 2)).sum().backward()
assert net.scale.grad is not None
net.zero_grad()
assert net.scale.grad is None
net.requires_grad_(False)
assert not any([p.requires_grad for p in net.parameters()])
net.requires_grad_(True)
visited = []
net.apply(lambda m: visited.append(type(m).__name__))
assert visited == ["Linear", "Linear", "Linear", "Net"]

# copies
twin = copy.deepcopy(net)
assert twin.first.weight is not net.first.weight and torch.equal(twin.first.weight, net.first.weight)
assert twin.third.weight is twin.second.weight and twin.first.weight.requires_grad

# hooks
calls = []
handles = [
    net.register_forward_pre_hook(lambda m, args: (args[0] * 2,)),
    net.register_forward_hook(lambda m, args, out: calls.append(args[0].sum().item())),
    net.first.register_forward_hook(lambda m, args, out: out * 0),
]
net(torch.ones(1, 2))
assert calls == [4.0]
for handle in handles:
    handle.remove()
net(torch.ones(1, 2))
assert calls == [4.0]
handle = net.first.register_full_backward_hook(lambda m, grads_in, grads_out: calls.append(grads_out[0].shape))
net(torch.ones(1, 2, requires_grad=True)).sum().backward()
assert calls[1] == (1, 3)
handle.remove()

# containers
layers = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
assert layers[-1].out_features == 1 and len(layers) == 3 and isinstance(layers[:2], nn.Sequential) and len(layers[:2]) == 2
layers.append(nn.Tanh())
layers.insert(1, nn.Identity())
assert [type(m).__name__ for m in layers] == ["Linear", "Identity", "ReLU", "Linear", "Tanh"]
del layers[1]
assert list(layers.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
layers[0] = nn.Linear(2, 4, bias=False)
assert list(layers.state_dict()) == ["0.weight", "2.weight", "2.bias"]
refuses(IndexError, lambda: layers[7])
several = nn.ModuleList([nn.Linear(1, 1) for _ in range(2)])
several += [nn.ReLU()]
several.extend([nn.ReLU()])
assert len(several) == 4 and several[2] is not several[3]
by_name = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 2)})
assert "a" in by_name and list(by_name) == ["a", "b"] and [k for k, m in by_name.items()] == ["a", "b"]
assert isinstance(by_name.pop("a"), nn.ReLU) and len(by_name) == 1
tensors = nn.ParameterList([torch.zeros(2), nn.Parameter(torch.ones(1))])
assert len(list(tensors.parameters())) == 2 and isinstance(tensors[0], nn.Parameter)
named = nn.ParameterDict({"w": torch.zeros(2)})
assert list(named.keys()) == ["w"] and [n for n, p in named.named_parameters()] == ["w"]

# text
assert repr(nn.Linear(2, 3)) == "Linear(in_features=2, out_features=3, bias=True)"
assert repr(nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)) == "Conv2d(3, 8, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), bias=False)"
assert repr(nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU()))) == """Sequential(
  (0): Linear(in_features=1, out_features=2, bias=True)
  (1): Sequential(
    (0): ReLU()
  )
)"""
assert repr(several) == """ModuleList(
  (0-1): 2 x Linear(in_features=1, out_features=1, bias=True)
  (2-3): 2 x ReLU()
)"""
assert repr(nn.LSTM(2, 3, num_layers=2, batch_first=True)) == "LSTM(2, 3, num_layers=2, batch_first=True)"
assert repr(nn.Embedding(4, 2, padding_idx=0)) == "Embedding(4, 2, padding_idx=0)"
assert repr(nn.ReLU(inplace=True)) == "ReLU(inplace=True)" and repr(nn.ModuleList()) == "ModuleList()"

# work in place
x = torch.tensor([-1.0, 1.0])
assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 1.0]
assert nn.Dropout(0.5).eval()(x) is x

# initial values, as PyTorch draws them
torch.manual_seed(0)
layer = nn.Linear(2, 2)
assert [round(v, 4) for v in layer.weight.flatten().tolist()] == [-0.0053, 0.3793, -0.5820, -0.5204]
assert [round(v, 4) for v in layer.bias.tolist()] == [-0.2723, 0.1896]
w = torch.empty(4, 3)
nn.init.orthogonal_(w)
assert torch.allclose(w.t() @ w, torch.eye(3), atol=1e-5)
nn.init.trunc_normal_(w, std=2.0, a=-1.0, b=1.0)
assert w.abs().max().item() <= 1.0
assert nn.init.calculate_gain("leaky_relu", 0.2) == (2 / 1.04) ** 0.5
assert nn.init.constant_(w, 0.5).sum().item() == 6.0

# utils
for p in layer.parameters():
    p.grad = torch.full_like(p, 2.0)
total = nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
assert abs(total.item() - 24 ** 0.5) < 1e-5 and abs(layer.bias.grad[0].item() - 2 / 24 ** 0.5) < 1e-5
nn.utils.clip_grad_value_(layer.parameters(), 0.1)
assert abs(layer.bias.grad.max().item() - 0.1) < 1e-7
nn.utils.vector_to_parameters(torch.arange(6.0), layer.parameters())
assert nn.utils.parameters_to_vector(layer.parameters()).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
print("ok")
