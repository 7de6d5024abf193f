# Losses against their definitions, written out in Python numbers.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

xs = [[0.5, -1.25, 2.0, 0.0], [-0.75, 1.5, 0.25, -2.0], [3.0, -0.5, 1.0, 0.75]]
ys = [[0.25, 0.75, 0.5, 1.0], [0.0, 0.5, 1.0, 0.25], [0.75, 0.125, 0.375, 0.875]]
x, y = torch.tensor(xs), torch.tensor(ys)
labels = [0, 3, 1]
t = torch.tensor(labels)
flat = [(a, b) for row, other in zip(xs, ys) for a, b in zip(row, other)]


def near(got, want, what):
    got = got.item() if isinstance(got, torch.Tensor) else got
    assert abs(got - want) <= 1e-5 + 1e-5 * abs(want), (what, got, want)


def mean(values):
    return sum(values) / len(values)


def softmax(row):
    top = max(row)
    total = sum([math.exp(v - top) for v in row])
    return [math.exp(v - top) / total for v in row]


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


# regression
near(F.mse_loss(x, y), mean([(a - b) ** 2 for a, b in flat]), "mse")
near(nn.MSELoss(reduction="sum")(x, y), sum([(a - b) ** 2 for a, b in flat]), "mse sum")
near(F.l1_loss(x, y), mean([abs(a - b) for a, b in flat]), "l1")
near(F.smooth_l1_loss(x, y, beta=0.5), mean([(a - b) ** 2 if abs(a - b) < 0.5 else abs(a - b) - 0.25 for a, b in flat]), "smooth l1")
near(F.huber_loss(x, y, delta=0.5), mean([0.5 * (a - b) ** 2 if abs(a - b) < 0.5 else 0.5 * (abs(a - b) - 0.25) for a, b in flat]), "huber")
near(F.poisson_nll_loss(x, y), mean([math.exp(a) - b * a for a, b in flat]), "poisson")
near(F.gaussian_nll_loss(x, y, y + 0.5, full=True), mean([0.5 * (math.log(b + 0.5) + (a - b) ** 2 / (b + 0.5)) + 0.5 * math.log(2 * math.pi) for a, b in flat]), "gaussian")
assert F.mse_loss(x, y, reduction="none").shape == x.shape

# classification
rows = [softmax(row) for row in xs]
picked = [-math.log(row[k]) for row, k in zip(rows, labels)]
near(F.cross_entropy(x, t), mean(picked), "cross entropy")
near(F.nll_loss(F.log_softmax(x, 1), t, reduction="sum"), sum(picked), "nll")
near(F.cross_entropy(x, t, ignore_index=3), mean([picked[0], picked[2]]), "ignored")
weights = [1.0, 2.0, 0.5, 4.0]
near(F.cross_entropy(x, t, weight=torch.tensor(weights)), sum([weights[k] * v for k, v in zip(labels, picked)]) / sum([weights[k] for k in labels]), "weighted")
spread = [mean([-math.log(v) for v in row]) for row in rows]
near(nn.CrossEntropyLoss(label_smoothing=0.2)(x, t), mean([0.8 * a + 0.2 * b for a, b in zip(picked, spread)]), "smoothed")
soft = [softmax(row) for row in ys]
near(F.cross_entropy(x, torch.tensor(soft)), mean([-sum([b * math.log(a) for a, b in zip(row, other)]) for row, other in zip(rows, soft)]), "probabilities")
near(F.kl_div(F.log_softmax(x, 1), torch.tensor(soft), reduction="batchmean"), sum([b * (math.log(b) - math.log(a)) for row, other in zip(rows, soft) for a, b in zip(row, other)]) / 3, "kl")
near(F.binary_cross_entropy(torch.sigmoid(x), y), mean([-b * math.log(sigmoid(a)) - (1 - b) * math.log(1 - sigmoid(a)) for a, b in flat]), "bce")
near(F.binary_cross_entropy_with_logits(x, y, pos_weight=torch.tensor(3.0)), mean([-3 * b * math.log(sigmoid(a)) - (1 - b) * math.log(1 - sigmoid(a)) for a, b in flat]), "bce with logits")
near(F.binary_cross_entropy_with_logits(torch.tensor([1000.0, -1000.0]), torch.tensor([1.0, 1.0]), reduction="sum"), 1000.0, "extreme logits")
near(F.multi_margin_loss(x, t), mean([sum([max(0.0, 1 - row[k] + v) for i, v in enumerate(row) if i != k]) / 4 for row, k in zip(xs, labels)]), "multi margin")
near(F.soft_margin_loss(x, torch.ones(3, 4)), mean([math.log(1 + math.exp(-a)) for a, b in flat]), "soft margin")
assert math.isnan(F.cross_entropy(x, torch.full((3,), -100)).item())
image = F.cross_entropy(x.t().reshape(1, 4, 3), t.reshape(1, 3), reduction="none")
assert image.shape == (1, 3) and torch.allclose(image[0], torch.tensor(picked), atol=1e-5)

# comparing embeddings
near(F.margin_ranking_loss(x, y, torch.ones(3, 4), margin=0.1), mean([max(0.0, b - a + 0.1) for a, b in flat]), "ranking")
near(F.hinge_embedding_loss(x, torch.tensor([[1], [-1], [1]])), mean([v if i != 1 else max(0.0, 1 - v) for i, row in enumerate(xs) for v in row]), "hinge")
lengths = [(math.sqrt(sum([v * v for v in a])), math.sqrt(sum([v * v for v in b]))) for a, b in zip(xs, ys)]
cosines = [sum([u * v for u, v in zip(a, b)]) / (m * n) for a, b, (m, n) in zip(xs, ys, lengths)]
near(F.cosine_similarity(x, y).sum(), sum(cosines), "cosine")
near(F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1])), mean([1 - cosines[0], max(0.0, cosines[1]), 1 - cosines[2]]), "cosine loss")
far = [math.sqrt(sum([(u - v + 1e-6) ** 2 for u, v in zip(a, b)])) for a, b in zip(xs, ys)]
near(F.pairwise_distance(x, y).sum(), sum(far), "distance")
near(F.triplet_margin_loss(x, y, x), mean([max(0.0, 1 + d - 2e-6) for d in far]), "triplet")


# errors
def refuses(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


refuses(ValueError, lambda: F.cross_entropy(x, torch.tensor([0, 1])))
refuses(ValueError, lambda: F.mse_loss(x, y, reduction="median"))
refuses(ValueError, lambda: F.binary_cross_entropy_with_logits(x, y[0]))
refuses(ValueError, lambda: F.binary_cross_entropy(torch.sigmoid(x), y[0]))

# ---- a gradient that a loss has no formula for is an error, compiled as well ----
rows, weight, classes = torch.randn(4, 3, requires_grad=True), torch.rand(3).requires_grad_(), torch.tensor([0, 2, 1, 1])
refusing = [("nll_loss_forward", "weight", lambda w: F.cross_entropy(rows, classes, w)), ("nll_loss2d_forward", "weight", lambda w: F.cross_entropy(rows[:, :, None].expand(4, 3, 2), classes[:, None].expand(4, 2), w)),
            ("binary_cross_entropy", "weight", lambda w: F.binary_cross_entropy(rows.sigmoid(), torch.ones(4, 3), w)),
            ("binary_cross_entropy_with_logits", "pos_weight", lambda w: F.binary_cross_entropy_with_logits(rows, torch.ones(4, 3), pos_weight=w))]
for function, argument, loss in refusing:
    for run in (loss, torch.compile(loss)):
        try:
            run(weight)
            raise AssertionError(function)
        except NotImplementedError as e:
            assert f"'{function}' is not differentiable with respect to argument '{argument}'" in str(e), e
        assert run(weight.detach()).requires_grad
        with torch.no_grad():
            run(weight)
print("ok")
