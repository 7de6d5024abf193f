# What a tensor is and may be: in-place views, memory taken over, inference tensors, nodes of the tape, special methods, types by name, autocast.
import torch
import torch.nn as nn
import torch.nn.functional as F


def refuses(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError(f"no {kind.__name__}")


# in-place views
x = torch.ones(2, 3)
assert x.unsqueeze_(0).shape == (1, 2, 3) and x.squeeze_().shape == (2, 3) and x.t_().shape == (3, 2) and x.transpose_(0, 1).shape == (2, 3)
assert x._version == 4 and x.as_strided_((3,), (1,)).shape == (3,)
y = torch.ones(2, 3, requires_grad=True)
z = y * 2
z.unsqueeze_(0)
assert z.grad_fn.name() == "UnsqueezeBackward1"
(z * torch.arange(6.0).reshape(1, 2, 3)).sum().backward()
assert y.grad.tolist() == [[0, 2, 4], [6, 8, 10]]
y.grad = None
z = y * 2
v = z[0]
v.unsqueeze_(1)
v.mul_(3)
assert z.tolist() == [[6, 6, 6], [2, 2, 2]] and v.shape == (3, 1)
z.sum().backward()
assert y.grad.tolist() == [[6, 6, 6], [2, 2, 2]]
assert "leaf" in refuses(RuntimeError, lambda: y.unsqueeze_(0))
a = torch.zeros(2)
b = a[:1]
a.resize_(4).fill_(7)
assert a.tolist() == [7, 7, 7, 7] and b.item() == 7
assert torch.zeros(2).set_(torch.ones(3)).tolist() == [1, 1, 1]
refuses(RuntimeError, lambda: y.resize_(6))

# inference tensors
with torch.inference_mode():
    z = torch.ones(2)
    z.add_(1)
assert z.is_inference() and not torch.is_inference(z.clone()) and z.view(2).is_inference() and not torch.ones(1).is_inference()
w = torch.ones(2, requires_grad=True)
refuses(RuntimeError, lambda: z * w)
assert (z + w).requires_grad
refuses(RuntimeError, lambda: z.add_(1))
refuses(RuntimeError, lambda: z.requires_grad_())

# nodes of the tape
assert type((w * 2).grad_fn).__name__ == "MulBackward0" and (2 ** w).grad_fn.name() == "PowBackward2"
names = [F.mse_loss(w, z.clone()), F.smooth_l1_loss(w, z.clone()), F.huber_loss(w, z.clone()), F.binary_cross_entropy(w / 2, z.clone() / 2), F.glu(w), F.prelu(w, w[:1])]
assert [t.grad_fn.name() for t in names] == ["MseLossBackward0", "SmoothL1LossBackward0", "HuberLossBackward0", "BinaryCrossEntropyBackward0", "GluBackward0", "PreluKernelBackward0"]
assert "between 0 and 1" in refuses(RuntimeError, lambda: F.binary_cross_entropy(w * 3, z.clone()))

# special methods, and methods of the class
t = torch.tensor([1.0, 2.0])
assert torch.equal(t.__add__(1), t + 1) and torch.equal(t.__rsub__(1), 1 - t) and torch.equal(torch.Tensor.__mul__(t, t), t * t)
assert torch.equal(torch.Tensor.add(t, 1), t + 1) and torch.equal(torch.Tensor.relu(-t), torch.zeros(2)) and t.__getitem__(0).item() == 1
assert list(map(torch.Tensor.item, t)) == [1, 2] and not hasattr(torch.Tensor, "no_such_method")

# types by name
assert torch.ones(1).type("torch.IntTensor").dtype == torch.int32 and torch.FloatTensor([1, 2]).dtype == torch.float32 and torch.LongTensor(2, 3).shape == (2, 3)
refuses(ValueError, lambda: torch.ones(1).type("torch.NoTensor"))
assert repr(torch.iinfo(torch.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
assert str(torch.finfo(torch.float32)) == "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"

# autocast: lower, float32, as they come
a = torch.ones(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    b = a @ a
    lower = [b, F.linear(a, a), torch.einsum("ij,jk->ik", a, a), torch.bmm(a[None], a[None]), nn.MultiheadAttention(4, 2, batch_first=True)(a[None], a[None], a[None])[0]]
    assert [r.dtype for r in lower] == [torch.bfloat16] * 5, [r.dtype for r in lower]
    wide = [F.l1_loss(b, b), F.mse_loss(b, b), F.kl_div(b, b), F.cross_entropy(b, torch.arange(4)), torch.cdist(b, b), F.triplet_margin_loss(b, b, b), torch.stack([b, a])]
    assert [r.dtype for r in wide] == [torch.float32] * 7, [r.dtype for r in wide]
    kept = [F.layer_norm(b, (4,)), b.sum(), b.exp(), F.gelu(b), torch.softmax(b, 0)]
    assert [r.dtype for r in kept] == [torch.bfloat16] * 5, [r.dtype for r in kept]


class Square(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]


with torch.autocast("cpu"):
    assert Square.apply(w.bfloat16()).dtype == torch.float32

# formats of memory, arguments of the wrong kind
assert torch.empty(1, 2, 4, 4, memory_format=torch.channels_last).stride() == (32, 1, 8, 2)
image = torch.ones(1, 2, 4, 4).to(memory_format=torch.channels_last)
assert torch.zeros_like(image).stride() == (32, 1, 8, 2) and torch.zeros_like(image, memory_format=torch.contiguous_format).stride() == (32, 16, 4, 1)
refuses(TypeError, lambda: torch.ones(2, dtype="float32"))
refuses(RuntimeError, lambda: torch.bernoulli(torch.tensor([0.5, 2.0])))
assert refuses(IndexError, lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 5]))) == "Target 5 is out of bounds."

# modules called with other tensors
layer = nn.Linear(2, 2)
mine = layer.weight
assert torch.func.functional_call(layer, {"weight": torch.eye(2), "bias": torch.zeros(2)}, torch.ones(1, 2)).tolist() == [[1, 1]] and layer.weight is mine

print("ok")
