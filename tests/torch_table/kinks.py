"""Values and gradients where functions turn: kinks and thresholds of activations, losses with all their options, division, rounding, clamps, ties.

In: nothing. Out: `kink_programs()`, one Program a function and family of arguments.

    Program("kink/relu", "for D in …:\\n    gradients(…, lambda a: F.relu(a), [x.to(D)])")

To add a function: a row of ACTIVATIONS, UNARY, BINARY or LOSSES, in the language of the programs, with the points where it turns.
"""
from common import Program

# name, expression of a, points
ACTIVATIONS = (
    ('relu', 'F.relu(a)', '0.0, -0.0, 1e-3, -1e-3, 2.5, -2.5'),
    ('relu6', 'F.relu6(a)', '0.0, -0.0, 6.0, 5.998, 6.002, -1.0, 3.0'),
    ('leaky_relu', 'F.leaky_relu(a)', '0.0, -0.0, 1.0, -1.0, 30.0, -30.0'),
    ('leaky_relu_0.2', 'F.leaky_relu(a, 0.2)', '0.0, -0.0, 1.0, -1.0'),
    ('elu', 'F.elu(a)', '0.0, -0.0, 1.0, -1.0, -30.0, 1e-4, -1e-4'),
    ('elu_0.5', 'F.elu(a, alpha=0.5)', '0.0, -0.0, 1.0, -1.0, -30.0'),
    ('selu', 'F.selu(a)', '0.0, -0.0, 1.0, -1.0, -30.0'),
    ('celu', 'F.celu(a, 0.75)', '0.0, -0.0, 1.0, -1.0, -30.0'),
    ('gelu', 'F.gelu(a)', '0.0, -0.0, 1.0, -1.0, 10.0, -10.0, 0.5, -0.75'),
    ('gelu_tanh', 'F.gelu(a, approximate="tanh")', '0.0, -0.0, 1.0, -1.0, 10.0, -10.0, 0.5, -0.75'),
    ('silu', 'F.silu(a)', '0.0, -0.0, 1.0, -1.0, 100.0, -100.0, -1.278'),
    ('mish', 'F.mish(a)', '0.0, -0.0, 1.0, -1.0, 30.0, -30.0, 21.0'),
    ('softplus', 'F.softplus(a)', '0.0, 20.0, 19.99, 20.02, 1.0, -1.0, -50.0, 50.0'),
    ('softplus_beta', 'F.softplus(a, beta=2.0, threshold=4.0)', '0.0, 2.0, 1.99, 2.02, 1.0, -1.0'),
    ('softsign', 'F.softsign(a)', '0.0, -0.0, 1.0, -1.0, 1e4'),
    ('tanhshrink', 'F.tanhshrink(a)', '0.0, -0.0, 0.25, -1.0, 20.0'),
    ('hardtanh', 'F.hardtanh(a)', '-1.0, 1.0, 0.0, -1.01, 1.01, -0.99'),
    ('hardtanh_-2_0.5', 'F.hardtanh(a, -2.0, 0.5)', '-2.0, 0.5, 0.0, -2.5, 1.0'),
    ('hardsigmoid', 'F.hardsigmoid(a)', '-3.0, 3.0, 0.0, -3.01, 3.02, 2.98, -2.98'),
    ('hardswish', 'F.hardswish(a)', '-3.0, 3.0, 0.0, -3.01, 3.02, 2.98, -2.98, -1.5'),
    ('hardshrink', 'F.hardshrink(a)', '0.5, -0.5, 0.0, 0.51, -0.51, 0.49'),
    ('softshrink', 'F.softshrink(a)', '0.5, -0.5, 0.0, 0.51, -0.51, 0.49'),
    ('softshrink_0', 'F.softshrink(a, 0.0)', '0.5, -0.5, 0.0, -0.0'),
    ('threshold', 'F.threshold(a, 1.0, 7.0)', '1.0, 0.99, 1.01, -1.0'),
    ('logsigmoid', 'F.logsigmoid(a)', '0.0, 1.0, -1.0, 100.0, -100.0'),
    ('sigmoid', 'torch.sigmoid(a)', '0.0, 1.0, -1.0, 100.0, -100.0, 20.0'),
    ('tanh', 'torch.tanh(a)', '0.0, -0.0, 1.0, -1.0, 30.0, -30.0, 1e-4'),
    ('glu', 'F.glu(a)', '0.0, 1.0, -1.0, 2.0, 30.0, -30.0'),
    ('prelu', 'F.prelu(a, torch.tensor([0.25], dtype=a.dtype))', '0.0, -0.0, 1.0, -1.0'),
    ('rrelu', 'F.rrelu(a)', '0.0, -0.0, 1.0, -1.0'),
    ('softmax', 'F.softmax(a, 0)', '0.0, 1.0, -1.0, 50.0, 49.0'),
    ('softmin', 'F.softmin(a, 0)', '0.0, 1.0, -1.0, 3.0'),
    ('log_softmax', 'F.log_softmax(a, 0)', '0.0, 1.0, -1.0, 50.0, 49.0'),
    ('normalize', 'F.normalize(a, dim=0)', '0.0, 3.0, 4.0'),
    ('normalize_zero', 'F.normalize(a, dim=0)', '0.0, 0.0, 0.0'),
)

UNARY = (
    ('sqrt', '0.0, -0.0, 1.0, 4.0, -1.0, 1e-4'), ('rsqrt', '0.0, 1.0, 4.0, -1.0'), ('reciprocal', '0.0, -0.0, 2.0, -0.5'), ('abs', '0.0, -0.0, 1.0, -1.0'),
    ('sign', '0.0, -0.0, 2.0, -2.0'), ('sgn', '0.0, -0.0, 2.0, -2.0'), ('floor', '0.5, -0.5, 1.0, -1.0, -0.0, 2.75'), ('ceil', '0.5, -0.5, 1.0, -1.0, -0.0, 2.75'),
    ('round', '0.5, 1.5, 2.5, -0.5, -1.5, 0.49, -0.0'), ('trunc', '0.5, -0.5, 1.75, -1.75, -0.0'), ('frac', '0.5, -0.5, 1.75, -1.75, 2.0'), ('exp', '0.0, 1.0, -200.0, 800.0, 12.0'),
    ('exp2', '0.0, 1.0, -200.0, 2000.0, 0.5'), ('expm1', '0.0, -0.0, 1e-4, 1.0, -50.0'), ('log', '0.0, 1.0, -1.0, 1e-4, 2.0'), ('log2', '0.0, 1.0, -1.0, 8.0'), ('log10', '0.0, 1.0, -1.0, 1000.0'),
    ('log1p', '0.0, -1.0, -2.0, 1e-4, 3.0'), ('sin', '0.0, -0.0, 1.0, -2.0, 100.0'), ('cos', '0.0, 1.0, -2.0, 100.0'), ('tan', '0.0, 1.0, -2.0'), ('asin', '0.0, 1.0, -1.0, 0.5, 2.0'),
    ('acos', '0.0, 1.0, -1.0, 0.5, 2.0'), ('atan', '0.0, 1.0, -1.0, 1e4'), ('sinh', '0.0, 1.0, -5.0'), ('cosh', '0.0, 1.0, -5.0'), ('asinh', '0.0, 1.0, -5.0'), ('acosh', '1.0, 2.0, 0.5'),
    ('atanh', '0.0, 0.5, 1.0, -1.0, 2.0'), ('erf', '0.0, 1.0, -3.0, 0.1'), ('erfc', '0.0, 1.0, -3.0, 4.0'), ('erfinv', '0.0, 0.5, -0.9, 1.0, -1.0, 2.0'), ('lgamma', '1.0, 2.0, 0.5, 3.5, -0.5, 0.0'),
    ('sinc', '0.0, 0.5, 1.0, -1.5'), ('square', '0.0, -3.0'), ('logit', '0.5, 0.0, 1.0, 0.25, -0.5'), ('nan_to_num', '0.0, 1.0'), ('neg', '0.0, -0.0, 1.0'), ('positive', '0.0, 1.0'), ('deg2rad', '180.0, -90.0'),
    ('rad2deg', '1.0, -2.0'), ('isnan', '0.0, 1.0'), ('isinf', '0.0'), ('isfinite', '1.0'), ('isposinf', '1.0'), ('isneginf', '1.0'), ('signbit', '0.0, -0.0, -1.0, 1.0'), ('logical_not', '0.0, -0.0, 2.0'), ('relu', '1.0, -1.0'),
    ('digamma', '1.0, 0.5'), ('i0', '0.0, 1.0'),
)

SPECIAL = '0.0, -0.0, 1.0, -1.0, 2.0, -2.5, math.inf, -math.inf, math.nan'

# name, expression of a and b
BINARY = (
    ('add', 'a + b'), ('sub', 'a - b'), ('mul', 'a * b'), ('div', 'a / b'), ('floordiv', 'a // b'), ('remainder', 'a % b'), ('fmod', 'torch.fmod(a, b)'), ('div_trunc', 'torch.div(a, b, rounding_mode="trunc")'),
    ('div_floor', 'torch.div(a, b, rounding_mode="floor")'), ('pow', 'a ** b'), ('maximum', 'torch.maximum(a, b)'), ('minimum', 'torch.minimum(a, b)'), ('fmax', 'torch.fmax(a, b)'), ('fmin', 'torch.fmin(a, b)'),
    ('atan2', 'torch.atan2(a, b)'), ('hypot', 'torch.hypot(a, b)'), ('copysign', 'torch.copysign(a, b)'), ('xlogy', 'torch.xlogy(a, b)'), ('logaddexp', 'torch.logaddexp(a, b)'), ('logaddexp2', 'torch.logaddexp2(a, b)'),
    ('lt', 'a < b'), ('le', 'a <= b'), ('eq', 'a == b'), ('ne', 'a != b'), ('gt', 'a > b'), ('ge', 'a >= b'), ('logical_and', 'torch.logical_and(a, b)'), ('logical_or', 'torch.logical_or(a, b)'),
    ('logical_xor', 'torch.logical_xor(a, b)'), ('heaviside', 'torch.heaviside(a, b)'), ('isclose', 'torch.isclose(a, b)'), ('isclose_nan', 'torch.isclose(a, b, rtol=0.5, atol=0.1, equal_nan=True)'), ('where', 'torch.where(a > b, a, b)'),
    ('lerp_0.25', 'torch.lerp(a, b, 0.25)'), ('lerp_0.75', 'torch.lerp(a, b, 0.75)'), ('lerp_0.5', 'torch.lerp(a, b, 0.5)'), ('addcmul', 'torch.addcmul(a, a, b, value=0.5)'), ('addcdiv', 'torch.addcdiv(a, a, b, value=0.5)'), ('ldexp', 'torch.ldexp(a, b)'), ('nextafter', 'torch.nextafter(a, b)'),
    ('clamp_min', 'torch.clamp(a, min=b)'), ('clamp_max', 'torch.clamp(a, max=b)'), ('clamp', 'torch.clamp(a, -b, b)'), ('float_power', 'torch.float_power(a, b)'), ('rsub', 'torch.rsub(a, b)'), ('mse', 'F.mse_loss(a, b, reduction="none")'),
    ('smooth_l1', 'F.smooth_l1_loss(a, b, reduction="none")'), ('huber', 'F.huber_loss(a, b, reduction="none", delta=1.5)'), ('l1', 'F.l1_loss(a, b, reduction="none")'),
)

SCALAR_ARGUMENT = (
    ('pow_0', 'a ** 0'), ('pow_1', 'a ** 1'), ('pow_2', 'a ** 2'), ('pow_3', 'a ** 3'), ('pow_0.5', 'a ** 0.5'), ('pow_-1', 'a ** -1'), ('pow_-0.5', 'a ** -0.5'), ('pow_-2', 'a ** -2'), ('pow_1.5', 'a ** 1.5'), ('rpow_2', '2 ** a'), ('rpow_0', '0 ** a'),
    ('rpow_-2', '(-2.0) ** a'), ('rpow_1', '1 ** a'), ('pow_inf', 'a ** math.inf'), ('clamp_lo', 'a.clamp(min=1.0)'), ('clamp_hi', 'a.clamp(max=-1.0)'), ('clamp_both', 'a.clamp(-1.0, 2.0)'), ('clamp_crossed', 'a.clamp(2.0, -1.0)'), ('clamp_nan', 'a.clamp(math.nan, 1.0)'),
    ('clamp_min', 'torch.clamp_min(a, 1.0)'), ('clamp_max', 'torch.clamp_max(a, 1.0)'), ('div_0', 'a / 0'), ('rdiv', '1 / a'), ('rdiv_0', '0 / a'), ('mod_2', 'a % 2'), ('mod_-2', 'a % -2'), ('mod_0', 'a % 0'), ('rmod', '3 % a'), ('floordiv_2', 'a // 2'), ('floordiv_0', 'a // 0'), ('floordiv_-0.5', 'a // -0.5'), ('rfloordiv', '3 // a'),
    ('fmod_2', 'torch.fmod(a, 2)'), ('nan_to_num', 'torch.nan_to_num(a, 1.0, 2.0, 3.0)'), ('nan_to_num_default', 'torch.nan_to_num(a)'), ('round_1', 'torch.round(a * 1.26, decimals=1)'), ('round_-1', 'torch.round(a * 7, decimals=-1)'), ('logit_eps', 'torch.logit(a, 0.25)'),
    ('masked_fill', 'a.masked_fill(a > 0, -1.0)'), ('where_scalar', 'torch.where(a > 0, a, 0.5)'), ('xlogy', 'torch.xlogy(a, 2.0)'), ('rxlogy', 'torch.xlogy(2.0, a)'), ('threshold', 'F.threshold(a, 0.0, 0.0)'), ('heaviside', 'torch.heaviside(a, torch.tensor(0.5, dtype=a.dtype))'), ('copysign', 'torch.copysign(a, -1.0)'), ('add_alpha', 'torch.add(a, 2, alpha=3)'), ('rsub_alpha', 'torch.rsub(a, 2, alpha=3)'),
)

# Over a matrix with ties, zeros and, where the name says so, NaN: expression of a
REDUCTIONS = (
    ('max', 'torch.max(a)'), ('min', 'torch.min(a)'), ('amax', 'torch.amax(a, 1)'), ('amin', 'torch.amin(a, 0)'), ('max_dim', 'torch.max(a, 1)'), ('min_dim', 'torch.min(a, 0)'), ('amax_all', 'torch.amax(a, (0, 1))'), ('aminmax', 'torch.aminmax(a)'), ('aminmax_dim', 'torch.aminmax(a, dim=1)'),
    ('argmax', 'torch.argmax(a)'), ('argmin', 'torch.argmin(a, 1)'), ('median', 'torch.median(a)'), ('median_dim', 'torch.median(a, 1)'), ('nanmedian', 'torch.nanmedian(a)'), ('kthvalue', 'torch.kthvalue(a, 2, 1)[0]'), ('mode', 'torch.mode(a, 1)[0]'), ('cummax', 'torch.cummax(a, 1)'), ('cummin', 'torch.cummin(a, 1)'),
    ('cumsum', 'torch.cumsum(a, 0)'), ('cumprod', 'torch.cumprod(a, 1)'), ('logcumsumexp', 'torch.logcumsumexp(a, 1)'), ('prod', 'torch.prod(a)'), ('prod_dim', 'torch.prod(a, 1)'), ('sum', 'torch.sum(a, 1)'), ('mean', 'torch.mean(a, 0)'), ('nansum', 'torch.nansum(a, 1)'), ('nanmean', 'torch.nanmean(a, 1)'),
    ('std', 'torch.std(a, 1)'), ('var', 'torch.var(a)'), ('var_1', 'torch.var(a[:, :1], 1)'), ('std_0', 'torch.std(a, 1, correction=0)'), ('var_mean', 'torch.var_mean(a, 1)'), ('std_mean', 'torch.std_mean(a)'), ('norm_2', 'torch.norm(a)'), ('norm_1', 'torch.norm(a, 1, 1)'), ('norm_0', 'torch.norm(a, 0, 1)'), ('norm_inf', 'torch.norm(a, math.inf, 1)'), ('norm_-inf', 'torch.norm(a, -math.inf, 1)'),
    ('norm_3', 'torch.norm(a, 3, 1)'), ('norm_0.5', 'torch.norm(a, 0.5, 1)'), ('norm_of_zeros', 'torch.norm(a * 0)'), ('norm_1_of_zeros', 'torch.norm(a * 0, 1)'), ('norm_3_of_zeros', 'torch.norm(a * 0, 3)'), ('vector_norm', 'torch.linalg.vector_norm(a, dim=1)'), ('logsumexp', 'torch.logsumexp(a, 1)'), ('logsumexp_big', 'torch.logsumexp(a * 1e4, 1)'), ('softmax', 'torch.softmax(a, 1)'), ('log_softmax', 'torch.log_softmax(a, 0)'),
    ('all', 'torch.all(a)'), ('any', 'torch.any(a, 1)'), ('count_nonzero', 'torch.count_nonzero(a, 1)'), ('sort', 'torch.sort(a, 1, stable=True)'), ('sort_down', 'torch.sort(a, 1, descending=True, stable=True)'), ('topk', 'torch.topk(a, 2, 1)[0]'), ('unique', 'torch.unique(a)'), ('dist', 'torch.dist(a, a)'), ('dist_1', 'torch.dist(a, a * 0, 1)'), ('cdist', 'torch.cdist(a, a.flip(0))'), ('cosine', 'F.cosine_similarity(a, a.flip(0), dim=1)'), ('cosine_zero', 'F.cosine_similarity(a, a * 0, dim=1)'),
    ('pairwise_distance', 'F.pairwise_distance(a, a)'), ('quantile', 'torch.quantile(a, 0.4, dim=1)'), ('renorm', 'torch.renorm(a, 2, 0, 1.0)'), ('trapezoid', 'torch.trapezoid(a, dim=1)'), ('layer_norm', 'F.layer_norm(a, (4,))'), ('rms_norm', 'F.rms_norm(a, (4,))'), ('group_norm', 'F.group_norm(a, 2)'), ('layer_norm_const', 'F.layer_norm(a * 0 + 2, (4,))'), ('batch_norm', 'F.batch_norm(a, None, None, training=True)'),
    ('scatter_reduce_amax', 'torch.zeros(2, 4, dtype=a.dtype).scatter_reduce(0, torch.tensor([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), a, "amax")'), ('scatter_reduce_prod', 'torch.ones(2, 4, dtype=a.dtype).scatter_reduce(0, torch.tensor([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), a, "prod")'), ('scatter_reduce_mean', 'torch.ones(2, 4, dtype=a.dtype).scatter_reduce(0, torch.tensor([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), a, "mean", include_self=False)'),
)

# Losses of a, 3 x 5, over the names of LOSS_SETUP. R stands for each reduction.
LOSSES = (
    ('mse', 'F.mse_loss(a, t, reduction=R)'), ('l1', 'F.l1_loss(a, t, reduction=R)'), ('smooth_l1', 'F.smooth_l1_loss(a, t, reduction=R)'), ('smooth_l1_half', 'F.smooth_l1_loss(a, t, reduction=R, beta=0.5)'), ('smooth_l1_0', 'F.smooth_l1_loss(a, t, reduction=R, beta=0.0)'),
    ('huber', 'F.huber_loss(a, t, reduction=R)'), ('huber_2', 'F.huber_loss(a, t, reduction=R, delta=2.0)'), ('bce', 'F.binary_cross_entropy(a.sigmoid(), u, reduction=R)'), ('bce_weight', 'F.binary_cross_entropy(a.sigmoid(), u, weight=w, reduction=R)'), ('bce_edges', 'F.binary_cross_entropy((a > 0).to(a.dtype) + a * 0, u, reduction=R)'),
    ('bce_logits', 'F.binary_cross_entropy_with_logits(a, u, reduction=R)'), ('bce_logits_weights', 'F.binary_cross_entropy_with_logits(a, u, weight=w, pos_weight=w + 1, reduction=R)'), ('bce_logits_far', 'F.binary_cross_entropy_with_logits(a * 100, u, reduction=R)'), ('kl_div', 'F.kl_div(F.log_softmax(a, 1), F.softmax(t, 1), reduction=R)'), ('kl_div_log', 'F.kl_div(F.log_softmax(a, 1), F.log_softmax(t, 1), reduction=R, log_target=True)'), ('kl_div_zero', 'F.kl_div(a, u, reduction=R)'),
    ('cross_entropy', 'F.cross_entropy(a, c, reduction=R)'), ('cross_entropy_weight', 'F.cross_entropy(a, c, weight=w, reduction=R)'), ('cross_entropy_ignore', 'F.cross_entropy(a, c, ignore_index=2, reduction=R)'), ('cross_entropy_ignore_all', 'F.cross_entropy(a, c * 0 - 100, reduction=R)'), ('cross_entropy_smooth', 'F.cross_entropy(a, c, label_smoothing=0.1, reduction=R)'), ('cross_entropy_smooth_weight', 'F.cross_entropy(a, c, weight=w, ignore_index=2, label_smoothing=0.3, reduction=R)'),
    ('cross_entropy_soft', 'F.cross_entropy(a, F.softmax(t, 1), reduction=R)'), ('cross_entropy_soft_all', 'F.cross_entropy(a, F.softmax(t, 1), weight=w, label_smoothing=0.2, reduction=R)'), ('cross_entropy_1d', 'F.cross_entropy(a[0], c[0], reduction=R)'), ('cross_entropy_3d', 'F.cross_entropy(a.reshape(1, 5, 3), c.reshape(1, 3), reduction=R)'), ('cross_entropy_far', 'F.cross_entropy(a * 1000, c, reduction=R)'), ('cross_entropy_bad', 'F.cross_entropy(a, c + 5, reduction=R)'),
    ('nll', 'F.nll_loss(F.log_softmax(a, 1), c, reduction=R)'), ('nll_weight', 'F.nll_loss(a, c, weight=w, ignore_index=4, reduction=R)'), ('nll_2d', 'F.nll_loss(a.reshape(1, 5, 3), c.reshape(1, 3), weight=w, reduction=R)'), ('hinge_embedding', 'F.hinge_embedding_loss(a, s, reduction=R)'), ('hinge_embedding_margin', 'F.hinge_embedding_loss(a, s, margin=0.5, reduction=R)'), ('margin_ranking', 'F.margin_ranking_loss(a, t, s, margin=0.5, reduction=R)'), ('soft_margin', 'F.soft_margin_loss(a, s, reduction=R)'),
    ('cosine_embedding', 'F.cosine_embedding_loss(a, t, s[:, 0], margin=0.1, reduction=R)'), ('triplet', 'F.triplet_margin_loss(a, t, t.flip(0), reduction=R)'), ('triplet_swap', 'F.triplet_margin_loss(a, t, t.flip(0), margin=3.0, swap=True, reduction=R)'), ('multi_margin', 'F.multi_margin_loss(a, c, reduction=R)'), ('multi_margin_2', 'F.multi_margin_loss(a, c, p=2, margin=0.5, weight=w, reduction=R)'), ('multilabel_margin', 'F.multilabel_margin_loss(a, torch.tensor([[1, 0, -1, 2, 3], [2, -1, 0, 0, 0], [-1, 1, 1, 1, 1]]), reduction=R)'),
    ('multilabel_soft_margin', 'F.multilabel_soft_margin_loss(a, u, reduction=R)'), ('multilabel_soft_margin_weight', 'F.multilabel_soft_margin_loss(a, u, weight=w, reduction=R)'), ('poisson', 'F.poisson_nll_loss(a, u, reduction=R)'), ('poisson_full', 'F.poisson_nll_loss(a, u * 4, full=True, reduction=R)'), ('poisson_rate', 'F.poisson_nll_loss(a.abs(), u, log_input=False, reduction=R)'), ('gaussian', 'F.gaussian_nll_loss(a, t, w.expand(3, 5), reduction=R)'), ('gaussian_full', 'F.gaussian_nll_loss(a, t, a.abs(), full=True, reduction=R)'),
    ('reduction_wrong', 'F.mse_loss(a, t, reduction="median")'), ('mse_weight', 'F.mse_loss(a, t, reduction=R, weight=w.expand(3, 5).contiguous())'), ('mse_broadcast', 'F.mse_loss(a, t[:1], reduction=R)'),
)

LOSS_SETUP = '''
A = torch.tensor([0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1.5, 0.25, 0.0, -2.0, 3.0, 1.0, -0.75, 0.5, 1.25], dtype=torch.float64).reshape(3, 5)
T = torch.tensor([0.0, 0.0, -1.5, 0.0, 1.5, -0.5, -0.5, 1.25, 1.0, -1.0, 2.0, 1.0, 0.25, 0.0, -0.75], dtype=torch.float64).reshape(3, 5)
U = torch.tensor([0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 0.25, 0.0, 0.75, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0], dtype=torch.float64).reshape(3, 5)
W = torch.tensor([0.5, 1.0, 2.0, 0.0, 1.5], dtype=torch.float64)
S = torch.tensor([1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0], dtype=torch.float64).reshape(3, 5)
c = torch.tensor([2, 0, 4])
'''


def points_program(group, name, expression, points):
    return Program(f'{group}/{name}', f'''
x = torch.tensor([{points}], dtype=torch.float64)
for D in FLOATS:
    gradients(SHORT[D], lambda a: {expression}, [x.to(D)])
second("second", lambda a: {expression}, [x])
y = torch.tensor([math.inf, -math.inf, math.nan, 1.0], dtype=torch.float32)
gradients("special", lambda a: {expression}, [y])
for D in (torch.int64, torch.uint8, torch.bool):
    attempt(SHORT[D], lambda: (lambda a: {expression})(torch.tensor([0, 1, 3, 4]).to(D)))''')


def binary_program(name, expression):
    return Program(f'binary/{name}', f'''
x = torch.tensor([{SPECIAL}], dtype=torch.float64)
for D in (torch.float64, torch.float32, torch.bfloat16):
    a, b = x.to(D).reshape(9, 1).expand(9, 9).reshape(81), x.to(D).repeat(9)
    gradients(SHORT[D], lambda a, b: {expression}, [a, b], 81 if D == torch.float64 else 6)
m = torch.tensor([0, 1, 2, 3, 100, 127, -1, -2, -7, -128])
n = torch.tensor([1, 2, 3, -3, 7, -1, 127, -128, 5, 4])
for D in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool):
    attempt(SHORT[D], lambda: (lambda a, b: {expression})(m.to(D), n.to(D)))
attempt("zero", lambda: (lambda a, b: {expression})(m, n * 0))
p, q = torch.tensor([2.0, -1.5, 0.5, 3.0, 1.0, 2.5]), torch.tensor([0.5, 2.0, -1.0, 3.0, 1.0, 4.0])
for D in FLOATS:
    gradients("plain " + SHORT[D], lambda a, b: {expression}, [p.to(D).reshape(2, 3), q.to(D).reshape(3, 2).t()])
second("second", lambda a, b: {expression}, [p.double(), q.double()])
gradients("broadcast", lambda a, b: {expression}, [p.reshape(2, 1, 3), q[:4].reshape(4, 1)], 6)''')


def scalar_program(name, expression):
    return Program(f'scalar/{name}', f'''
x = torch.tensor([{SPECIAL}, 0.5, 3.0], dtype=torch.float64)
for D in FLOATS:
    gradients(SHORT[D], lambda a: {expression}, [x.to(D)])
for D in (torch.int64, torch.int8, torch.uint8, torch.bool):
    attempt(SHORT[D], lambda: (lambda a: {expression})(torch.tensor([0, 1, 2, 3, -1, -3, 100]).to(D)))''')


def reduction_program(name, expression):
    return Program(f'reduction/{name}', f'''
x = torch.tensor([[2.0, 1.0, 2.0, -1.0], [0.0, 0.5, 0.0, 0.0], [-3.0, 1.5, 1.5, -3.0]], dtype=torch.float64)
for D in FLOATS:
    gradients(SHORT[D], lambda a: {expression}, [x.to(D)])
gradients("transposed", lambda a: {expression}, [x.t().contiguous().t()])
second("second", lambda a: {expression}, [x])
y = x.clone()
y[0, 1], y[1, 2], y[2, 0] = math.nan, math.inf, -math.inf
gradients("special", lambda a: {expression}, [y])
for D in (torch.int64, torch.int32, torch.uint8, torch.bool):
    attempt(SHORT[D], lambda: (lambda a: {expression})(x.abs().to(D)))
attempt("empty", lambda: (lambda a: {expression})(torch.zeros(0, 4)))''')


def loss_program(name, expression):
    reductions = '("none", "mean", "sum", "batchmean")' if 'kl_div' in name else '("none", "mean", "sum")'
    return Program(f'loss/{name}', f'''
{LOSS_SETUP.strip()}
for R in {reductions}:
    for D in FLOATS:
        if R == "none" or D == torch.float64 or R == "mean" and D == torch.bfloat16:
            t, u, w, s = T.to(D), U.to(D), W.to(D), S.to(D)
            gradients(R + " " + SHORT[D], lambda a: {expression}, [A.to(D)])
t, u, w, s, R = T, U, W, S, "mean"
second("second", lambda a: {expression}, [A])''')


def kink_programs():
    made = [points_program('activation', *row) for row in ACTIVATIONS]
    made += [points_program('unary', name, f'torch.{name}(a)', points) for name, points in UNARY]
    made += [binary_program(*row) for row in BINARY]
    made += [scalar_program(*row) for row in SCALAR_ARGUMENT]
    made += [reduction_program(*row) for row in REDUCTIONS]
    made += [loss_program(*row) for row in LOSSES]
    return made
