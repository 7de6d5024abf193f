# Layers against slow, plain loops over elements.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def filled(*shape):
    count = 1
    for size in shape:
        count *= size
    return (torch.arange(float(count)) * 0.73 + count).sin().reshape(shape)


def same(got, want, what):
    want = torch.tensor(want) if not isinstance(want, torch.Tensor) else want
    assert got.shape == want.shape, (what, got.shape, want.shape)
    assert torch.allclose(got, want, atol=1e-5), (what, (got - want).abs().max())


def slow_conv2d(x, w, b, stride, padding, dilation, groups):
    n, channels, height, width = x.shape
    out, each, kh, kw = w.shape
    x = F.pad(x, (padding, padding, padding, padding))
    rows = (height + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    columns = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    y = torch.zeros(n, out, rows, columns)
    for o in range(out):
        first = o // (out // groups) * each
        for i in range(rows):
            for j in range(columns):
                window = x[:, first:first + each, i * stride:i * stride + dilation * (kh - 1) + 1:dilation, j * stride:j * stride + dilation * (kw - 1) + 1:dilation]
                y[:, o, i, j] = (window * w[o]).sum((1, 2, 3)) + b[o]
    return y


x = filled(2, 4, 6, 5)
for stride, padding, dilation, groups in [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 4)]:
    w, b = filled(4, 4 // groups, 3, 2), filled(4)
    same(F.conv2d(x, w, b, stride, padding, dilation, groups), slow_conv2d(x, w, b, stride, padding, dilation, groups), "conv2d")
conv = nn.Conv2d(4, 3, 3, padding="same")
assert conv(x).shape == (2, 3, 6, 5)
same(F.conv1d(filled(1, 1, 5), torch.tensor([[[1.0, 2.0]]])), [[[(filled(5)[i] + 2 * filled(5)[i + 1]).item() for i in range(4)]]], "conv1d")
# A transposed convolution is the gradient of a convolution.
w = filled(4, 3, 3, 2)
inner = filled(2, 3, 8, 6).requires_grad_()
y = F.conv2d(inner, w, stride=2, padding=1)
g = filled(*y.shape)
same(F.conv_transpose2d(g, w, stride=2, padding=1, output_padding=(1, 0)), torch.autograd.grad(y, inner, g)[0], "conv_transpose2d")

# pooling
same(F.max_pool2d(x, 2), torch.stack([torch.stack([x[:, :, 2 * i:2 * i + 2, 2 * j:2 * j + 2].amax((2, 3)) for j in range(2)], -1) for i in range(3)], -2), "max_pool2d")
values, where = F.max_pool2d(x, 3, 2, 1, return_indices=True)
same(x.flatten(2).gather(2, where.flatten(2)).reshape(values.shape), values, "max_pool2d's indices")
same(F.avg_pool2d(x, (3, 1), stride=1), torch.stack([x[:, :, i:i + 3].mean(2) for i in range(4)], 2), "avg_pool2d")
ones = torch.ones(1, 1, 5, 5)
same(F.avg_pool2d(ones, 3, 2, 1, count_include_pad=False), torch.ones(1, 1, 3, 3), "padding is not counted")
same(F.avg_pool2d(ones, 3, 2, 1)[0, 0, 0], [4 / 9, 6 / 9, 4 / 9], "padding is counted")
same(F.adaptive_avg_pool2d(x, (1, 1)).flatten(1), x.mean((2, 3)), "adaptive to one")
same(F.adaptive_avg_pool1d(filled(1, 1, 5), 3)[0, 0], [filled(5)[0:2].mean().item(), filled(5)[1:4].mean().item(), filled(5)[3:5].mean().item()], "adaptive")

# normalization
z = filled(3, 4, 5)
m = z.mean(-1, True)
v = ((z - m) ** 2).mean(-1, True)
same(F.layer_norm(z, (5,), filled(5), filled(5)), (z - m) / torch.sqrt(v + 1e-5) * filled(5) + filled(5), "layer_norm")
same(F.rms_norm(z, (5,), filled(5), 1e-6), z / torch.sqrt((z * z).mean(-1, True) + 1e-6) * filled(5), "rms_norm")
grouped = z.reshape(3, 2, 10)
centered = grouped - grouped.mean(-1, True)
same(F.group_norm(z, 2), (centered / torch.sqrt((centered ** 2).mean(-1, True) + 1e-5)).reshape(z.shape), "group_norm")
norm = nn.BatchNorm1d(4)
norm(z)
same(norm.running_mean, 0.1 * z.mean((0, 2)), "running mean")
same(norm.running_var, 0.9 + 0.1 * z.transpose(0, 1).reshape(4, 15).var(1), "running variance")
assert norm.num_batches_tracked.item() == 1
norm.eval()
same(norm(z), (z - norm.running_mean[None, :, None]) / torch.sqrt(norm.running_var[None, :, None] + 1e-5), "batch norm in evaluation")


# recurrent networks, a step at a time
def sigmoid(t):
    return 1 / (1 + torch.exp(-t))


steps = filled(5, 2, 3)
lstm = nn.LSTM(3, 4)
h, c = torch.zeros(2, 4), torch.zeros(2, 4)
for step in steps:
    gates = step @ lstm.weight_ih_l0.t() + lstm.bias_ih_l0 + h @ lstm.weight_hh_l0.t() + lstm.bias_hh_l0
    i, f, g, o = gates.chunk(4, 1)
    c = sigmoid(f) * c + sigmoid(i) * torch.tanh(g)
    h = sigmoid(o) * torch.tanh(c)
output, (last_h, last_c) = lstm(steps)
same(output[-1], h, "lstm's output")
same(last_h[0], h, "lstm's state")
same(last_c[0], c, "lstm's cell")
gru = nn.GRU(3, 4, batch_first=True)
h = torch.zeros(2, 4)
for step in steps:
    ir, iz, inn = (step @ gru.weight_ih_l0.t() + gru.bias_ih_l0).chunk(3, 1)
    hr, hz, hn = (h @ gru.weight_hh_l0.t() + gru.bias_hh_l0).chunk(3, 1)
    n = torch.tanh(inn + sigmoid(ir + hr) * hn)
    h = n + sigmoid(iz + hz) * (h - n)
same(gru(steps.transpose(0, 1))[1][0], h, "gru")
both = nn.RNN(3, 4, bidirectional=True)
output, state = both(steps)
same(output[0, :, 4:], state[1], "the backward direction ends at the first step")
one = nn.RNN(3, 4)
for name in ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]:
    getattr(one, name).data.copy_(getattr(both, name + "_reverse"))
same(one(steps.flip(0))[0].flip(0), output[:, :, 4:], "the backward direction")
assert nn.LSTM(3, 4, 2, proj_size=2)(steps)[1][0].shape == (2, 2, 2)

# attention
q, k, v = filled(2, 3, 4), filled(2, 5, 4) * 0.5, filled(2, 5, 4)
weights = torch.softmax(q @ k.transpose(1, 2) / 2, -1)
same(F.scaled_dot_product_attention(q, k, v), weights @ v, "attention")
q1 = filled(1, 4, 4)
late = torch.triu(torch.full((4, 4), -math.inf), 1)
same(F.scaled_dot_product_attention(q1, q1, q1, is_causal=True), torch.softmax(q1 @ q1.transpose(1, 2) / 2 + late, -1) @ q1, "causal attention")
same(F.scaled_dot_product_attention(filled(1, 4, 3, 2), filled(1, 2, 3, 2), filled(1, 2, 3, 2), enable_gqa=True),
     F.scaled_dot_product_attention(filled(1, 4, 3, 2), filled(1, 2, 3, 2).repeat_interleave(2, 1), filled(1, 2, 3, 2).repeat_interleave(2, 1)), "grouped heads")
hidden = torch.zeros(3, 5, dtype=torch.bool)
assert F.scaled_dot_product_attention(q, k, v, attn_mask=hidden).abs().max().item() == 0
multi = nn.MultiheadAttention(4, 2, batch_first=True)
out, weights = multi(q, q, q)
qs, ks, vs = (t.reshape(2, 3, 2, 2).transpose(1, 2) for t in F.linear(q, multi.in_proj_weight, multi.in_proj_bias).chunk(3, -1))
want = F.scaled_dot_product_attention(qs, ks, vs).transpose(1, 2).reshape(2, 3, 4)
same(out, multi.out_proj(want), "multi-head attention")
same(weights.sum(-1), torch.ones(2, 3), "attention weights")
same(multi(q, q, q, need_weights=False)[0], out, "without weights")
padding = torch.tensor([[False, False, True], [False, False, False]])
assert multi(q, q, q, key_padding_mask=padding)[1][0, :, 2].abs().max().item() == 0
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True), 2)
assert encoder(q).shape == q.shape and len({id(p) for p in encoder.parameters()}) == 24

# embeddings and shapes
table = nn.Embedding(5, 3, padding_idx=-1)
assert table.padding_idx == 4 and table.weight[4].abs().sum().item() == 0
table(torch.tensor([4, 1, 1])).sum().backward()
same(table.weight.grad.sum(1), [0.0, 6.0, 0.0, 0.0, 0.0], "gradient of an embedding")
same(F.embedding_bag(torch.tensor([0, 1, 3]), filled(4, 2), torch.tensor([0, 2])), torch.stack([filled(4, 2)[:2].mean(0), filled(4, 2)[3]]), "embedding_bag")
same(F.fold(F.unfold(x, 2, stride=2, padding=(0, 1)), (6, 5), 2, stride=2, padding=(0, 1)), x, "fold undoes unfold")
same(F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), x, "pixel_unshuffle undoes pixel_shuffle")
same(F.interpolate(torch.tensor([[[0.0, 1.0]]]), scale_factor=2, mode="linear"), [[[0.0, 0.25, 0.75, 1.0]]], "interpolate")
same(F.interpolate(torch.tensor([[[0.0, 1.0]]]), size=3, mode="linear", align_corners=True), [[[0.0, 0.5, 1.0]]], "interpolate, corners aligned")
same(F.pad(torch.tensor([[0.0, 1.0, 2.0]]), (2, 1), mode="reflect"), [[2.0, 1.0, 0.0, 1.0, 2.0, 1.0]], "pad")
same(F.pad(torch.tensor([[0.0, 1.0, 2.0]]), (2, 1), mode="circular"), [[1.0, 2.0, 0.0, 1.0, 2.0, 0.0]], "pad")
same(torch.einsum("bij,bkj->bik", filled(2, 3, 4), filled(2, 5, 4)), filled(2, 3, 4) @ filled(2, 5, 4).transpose(1, 2), "einsum")
same(torch.einsum("ii", filled(3, 3)), filled(3, 3).diagonal().sum(), "einsum's trace")
same(torch.einsum("...a,ab->...b", filled(2, 3, 4), filled(4, 2)), filled(2, 3, 4) @ filled(4, 2), "einsum with an ellipsis")
print("ok")
