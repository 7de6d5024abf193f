# Functions that few programs ask for: numbers, windows, layers under torch's own names, layers that undo or align or learn their size.
import itertools
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def near(a, b, tolerance=1e-5):
    return a.shape == b.shape and (a - b).abs().max() < tolerance


# numbers
mantissa, exponent = torch.frexp(torch.tensor([1.0, 5.0, 0.0, -0.3]))
assert near(mantissa, torch.tensor([0.5, 0.625, 0.0, -0.6])) and exponent.tolist() == [1, 3, 0, -1]
assert torch.nextafter(torch.tensor([1.0]), torch.tensor([2.0])).item() == 1 + 2 ** -23 and torch.nextafter(torch.zeros(1), -torch.ones(1)).item() == -2.0 ** -149
assert near(torch.polygamma(1, torch.tensor([1.0, 0.5])), torch.tensor([math.pi ** 2 / 6, math.pi ** 2 / 2]))
assert near(torch.special.i0(torch.tensor([0.0, 1.0])), torch.tensor([1.0, 1.2660659]))
assert torch.nanquantile(torch.tensor([1.0, math.nan, 3.0, 4.0]), 0.5).item() == 3
assert torch.gradient(torch.tensor([1.0, 4, 9, 16]))[0].tolist() == [3, 4, 6, 7] and torch.gradient(torch.tensor([1.0, 4, 9, 16]), edge_order=2)[0].tolist() == [2, 4, 6, 8]
counts, edges = torch.histogram(torch.tensor([1.0, 2, 1]), bins=4, range=(0.0, 3.0))
assert counts.tolist() == [0, 2, 1, 0] and edges.tolist() == [0, 0.75, 1.5, 2.25, 3]
assert near(torch.hann_window(4), torch.tensor([0.0, 0.5, 1, 0.5])) and near(torch.hamming_window(4, periodic=False), torch.tensor([0.08, 0.77, 0.77, 0.08]))
assert torch.tensor([1.0, 2.0]).apply_(lambda v: v * 10).tolist() == [10, 20]
assert torch.empty_permuted((2, 3, 4), (0, 2, 1)).stride() == (12, 1, 3)
assert torch.zeros(3).index_reduce(0, torch.tensor([0, 0]), torch.tensor([2.0, 5.0]), "amax").tolist() == [5, 0, 0]

assert near(torch.special.log_ndtr(torch.tensor([-10.0, 0.0])), torch.tensor([-53.2312851, -0.6931472])) and near(torch.special.i0e(torch.tensor([1.0])), torch.tensor([0.4657596]))
assert torch.autograd.gradgradcheck(lambda x, y: x.sin() * y * y, (torch.ones(2, dtype=torch.float64, requires_grad=True), torch.ones(2, dtype=torch.float64, requires_grad=True)))

# layers under torch's names
x, w = torch.randn(1, 2, 5, 5), torch.randn(3, 2, 3, 3)
assert torch.equal(torch.conv2d(x, w), F.conv2d(x, w)) and torch.equal(torch.max_pool2d(x, 2), F.max_pool2d(x, 2))
assert torch.equal(torch.prelu(x, torch.tensor([0.25])), F.prelu(x, torch.tensor([0.25]))) and torch.equal(torch.pixel_shuffle(torch.ones(1, 4, 1, 1), 2), torch.ones(1, 1, 2, 2))
chances = x.softmax(1)
assert torch.equal(torch.kl_div(x, chances, 2), F.kl_div(x, chances, reduction="sum"))

# pooling undone, images read at places
x = torch.arange(16.0).reshape(1, 1, 4, 4)
values, indices = F.max_pool2d(x, 2, return_indices=True)
assert nn.MaxUnpool2d(2)(values, indices).sum() == values.sum() and nn.MaxUnpool2d(2)(values, indices)[0, 0, 3, 3] == 15
assert near(nn.LPPool2d(2, 2)(x)[0, 0, 0, 0], torch.tensor(42.0).sqrt())
same = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]])
for corners in (False, True):
    assert near(F.grid_sample(x, F.affine_grid(same, (1, 1, 4, 4), align_corners=corners), align_corners=corners), x)
places = torch.tensor([[[[0.0, 0.0], [1.5, 1.5]]]])
assert F.grid_sample(x, places, align_corners=False).flatten().tolist() == [7.5, 0] and F.grid_sample(x, places, padding_mode="reflection", align_corners=False).flatten().tolist() == [7.5, 12.5]

# alignments, against all paths
logs = torch.randn(5, 2, 4, dtype=torch.float64).log_softmax(2).requires_grad_()


def by_all_paths(row, target):
    total = 0.0
    for path in itertools.product(range(4), repeat=5):
        spelled = [key for key, group in itertools.groupby(path) if key != 0]
        if spelled == target:
            total += math.exp(sum(row[t, k].item() for t, k in enumerate(path)))
    return -math.log(total)


loss = F.ctc_loss(logs, torch.tensor([[1, 2], [3, 3]]), torch.tensor([5, 5]), torch.tensor([2, 2]), reduction="none")
assert near(loss, torch.tensor([by_all_paths(logs[:, 0], [1, 2]), by_all_paths(logs[:, 1], [3, 3])], dtype=torch.float64), 1e-9)
loss.sum().backward()
assert near(logs.grad.sum(2), torch.full((5, 2), -1.0, dtype=torch.float64), 1e-9)
assert F.ctc_loss(logs.detach()[:1], torch.tensor([[1, 2], [3, 3]]), [1, 1], [2, 2], zero_infinity=True).item() == 0

# many classes, sizes learned
adaptive = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)
assert near(adaptive.log_prob(torch.randn(2, 8)).exp().sum(1), torch.ones(2)) and adaptive(torch.randn(3, 8), torch.tensor([1, 7, 15])).output.shape == (3,)
net = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2))
assert repr(net[0]) == "LazyLinear(in_features=0, out_features=4, bias=True)"
assert net(torch.ones(1, 3)).shape == (1, 2) and repr(net[0]) == "Linear(in_features=3, out_features=4, bias=True)" and len(list(net.parameters())) == 4


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = nn.Buffer(torch.zeros(1))
        self.scratch = nn.Buffer(torch.zeros(1), persistent=False)


assert list(Counter().state_dict()) == ["seen"] and [name for name, b in Counter().named_buffers()] == ["seen", "scratch"]

print("ok")
