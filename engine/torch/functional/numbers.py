"""Numbers and values: torch.frexp, torch.polygamma, torch.nanquantile, torch.gradient, torch.hann_window …"""
import math
import torch

METHODS = (
    "prelu", "polygamma", "mvlgamma", "i0", "i0_", "frexp", "nextafter", "nanquantile", "heaviside_", "absolute_", "fix_", "float_power_", "arcsinh_", "arccosh_",
    "arctanh_", "arcsin_", "arccos_", "arctan_", "addbmm_", "cauchy_", "is_set_to", "resolve_neg", "map_", "apply_", "histogram")


_frexp = torch._C._return_type("frexp", "mantissa", "exponent")
_histogram = torch._C._return_type("histogram", "hist", "bin_edges")


def _named(kind, *parts):
    """In a graph the parts are a plain tuple."""
    return kind(*parts) if torch._C._is_eager() else parts


# ---- special functions ----

def polygamma(n, input):
    """The nth derivative of digamma. As a method the number comes second: x.polygamma(1)."""
    if isinstance(n, torch.Tensor):
        n, input = input, n
    if n == 0:
        return torch.digamma(input)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    sign = 1.0 if n % 2 == 1 else -1.0
    x = input.to(torch.float64)
    total = torch.zeros_like(x)
    # sign * n! * zeta(n + 1, x): the first terms, then Euler and Maclaurin's rest.
    for k in range(16):
        total = total + (x + k) ** -(n + 1.0)
    y, s = x + 16, n + 1.0
    total = total + y ** (1 - s) / (s - 1) + 0.5 * y ** -s + s / 12 * y ** (-s - 1) - s * (s + 1) * (s + 2) / 720 * y ** (-s - 3)
    result = sign * math.factorial(n) * total
    return result.to(input.dtype if input.is_floating_point() else torch.get_default_dtype())


def mvlgamma(input, p):
    total = p * (p - 1) / 4.0 * math.log(math.pi)
    for i in range(p):
        total = total + torch.lgamma(input - i / 2.0)
    return total


def i0(input):
    """The modified Bessel function of order zero, by its power series where that is short, else by its asymptotic one."""
    x = input.to(torch.float64).abs()
    quarter, term, series = x * x / 4, torch.ones_like(x), torch.ones_like(x)
    for k in range(1, 60):
        term = term * quarter / (k * k)
        series = series + term
    far, factor, rest = x.clamp_min(1.0), torch.ones_like(x), torch.ones_like(x)
    for k in range(1, 14):
        factor = factor * ((2 * k - 1) ** 2) / (8 * k * far)
        rest = rest + factor
    value = torch.where(x < 20, series, torch.exp(far) / torch.sqrt(2 * math.pi * far) * rest)
    return value.to(input.dtype if input.is_floating_point() else torch.get_default_dtype())


# ---- the parts of floating point numbers ----

def frexp(input):
    if not input.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    finite = input.isfinite() & (input != 0)
    exponent = torch.where(finite, torch.where(finite, input, 1).abs().to(torch.float64).log2().floor() + 1, 0)
    mantissa = input.to(torch.float64) / torch.exp2(exponent)
    # The logarithm of a number just below a power of two may round up to it.
    low = finite & (mantissa.abs() < 0.5)
    exponent, mantissa = torch.where(low, exponent - 1, exponent), torch.where(low, mantissa * 2, mantissa)
    return _named(_frexp, mantissa.to(input.dtype), exponent.to(torch.int32))


def nextafter(input, other):
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise TypeError("nextafter(): arguments 'input' and 'other' must be Tensors")
    common = torch.result_type(input, other)
    if not common.is_floating_point:
        raise NotImplementedError(f"nextafter(): not implemented for {common}")
    input, other = input.to(common), other.to(common)
    input, other = torch.broadcast_tensors(input, other)
    whole = torch.int64 if input.dtype == torch.float64 else torch.int32 if input.dtype == torch.float32 else torch.int16
    bits = input.contiguous().view(whole)
    away = (other > input) == (input > 0)
    step = torch.where(away, bits + 1, bits - 1).view(input.dtype)
    tiny = torch.ones([], dtype=whole, device=input.device).view(input.dtype)
    step = torch.where(input == 0, torch.copysign(tiny, other), step)
    step = torch.where(input == other, other, step)
    return torch.where(input.isnan() | other.isnan(), math.nan, step)


def real(input):
    return input


# ---- order and counts ----

def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """As quantile, of the numbers that are not nan: by rows, since each has its own count."""
    if dim is None:
        flat, at = input.reshape([-1]), 0
    else:
        flat, at = input, dim
    q = q if isinstance(q, torch.Tensor) else torch.tensor(q, dtype=input.dtype, device=input.device)
    ordered = flat.sort(at)[0].movedim(at, -1)
    counts = flat.isnan().logical_not().sum(at).unsqueeze(-1)
    places = q.reshape([-1]) * (counts - 1).clamp_min(0)
    low, high = places.floor(), places.ceil()
    weight = places - low
    if interpolation == "lower":
        high = low
    elif interpolation == "higher":
        low = high
    elif interpolation == "nearest":
        low = high = places.round()
    elif interpolation == "midpoint":
        weight = torch.full_like(places, 0.5)
    result = torch.lerp(ordered.gather(-1, low.to(torch.int64)), ordered.gather(-1, high.to(torch.int64)), weight)
    result = torch.where(counts == 0, math.nan, result)
    if q.dim() == 0:
        result = result.squeeze(-1)
        return result.reshape([1] * input.dim()) if keepdim and dim is None else result.unsqueeze(dim) if keepdim else result
    result = result.movedim(-1, 0)
    return result.unsqueeze(dim if dim < 0 else dim + 1) if keepdim and dim is not None else result


def histogram(input, bins, *, range=None, weight=None, density=False):
    if isinstance(bins, torch.Tensor):
        edges = bins
    else:
        low, high = range if range is not None else (float(input.min()), float(input.max()))
        edges = torch.linspace(low, high if high > low else low + 1, bins + 1, dtype=input.dtype)
    flat, count = input.reshape([-1]), edges.shape[0] - 1
    inside = (flat >= edges[0]) & (flat <= edges[-1])
    flat = flat[inside]
    place = (torch.searchsorted(edges, flat, right=True) - 1).clamp(0, count - 1)
    weights = torch.ones_like(flat) if weight is None else weight.reshape([-1])[inside]
    found = torch.zeros(count, dtype=input.dtype).index_add(0, place, weights)
    if density:
        found = found / found.sum() / (edges[1:] - edges[:-1])
    return _named(_histogram, found, edges)


# ---- in place ----

def i0_(input):
    return input.copy_(i0(input))


def heaviside_(input, values):
    return input.copy_(torch.heaviside(input, values))


def float_power_(input, exponent):
    if input.dtype != torch.float64:
        raise RuntimeError(f"the base given to float_power_ has dtype {input.dtype} but the operation's result requires dtype torch.float64")
    return input.pow_(exponent)


def absolute_(input):
    return input.abs_()


def fix_(input):
    return input.trunc_()


def arcsin_(input):
    return input.asin_()


def arccos_(input):
    return input.acos_()


def arctan_(input):
    return input.atan_()


def arcsinh_(input):
    return input.asinh_()


def arccosh_(input):
    return input.acosh_()


def arctanh_(input):
    return input.atanh_()


def cauchy_(input, median=0, sigma=1, *, generator=None):
    return input.uniform_(generator=generator).sub_(0.5).mul_(math.pi).tan_().mul_(sigma).add_(median)


def zero_(input):
    return input.zero_()


def fill(input, value):
    return input.clone().fill_(value)


# ---- sums of products ----

def addbmm_(input, batch1, batch2, *, beta=1, alpha=1):
    return input.copy_(torch.addbmm(input, batch1, batch2, beta=beta, alpha=alpha))


# ---- by hand, element by element ----

def apply_(input, callable):
    flat = [callable(value) for value in input.reshape([-1]).tolist()]
    return input.copy_(torch.tensor(flat, dtype=input.dtype).reshape(input.shape))


def map_(input, other, callable):
    pairs = zip(input.reshape([-1]).tolist(), other.expand_as(input).reshape([-1]).tolist())
    return input.copy_(torch.tensor([callable(a, b) for a, b in pairs], dtype=input.dtype).reshape(input.shape))


# ---- numeric integration and differences ----

def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Second order inside, first or second at the edges, for even spacing or given coordinates."""
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    steps = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    return tuple([_gradient_along(input, step, d % input.dim(), edge_order) for step, d in zip(steps, dims)])


def _gradient_along(input, step, dim, edge_order):
    n = input.shape[dim]
    if n < edge_order + 1:
        raise RuntimeError(f"torch.gradient expected each dimension size to be at least {edge_order + 1}")
    shape = [-1 if d == dim else 1 for d in range(input.dim())]
    if isinstance(step, torch.Tensor) and step.dim() == 1:
        widths = step.diff()
    else:
        widths = torch.full([n - 1], float(step), dtype=input.dtype if input.is_floating_point() else torch.get_default_dtype())
    widths = widths.reshape(shape)
    slopes = (input.narrow(dim, 1, n - 1) - input.narrow(dim, 0, n - 1)) / widths
    left, right = widths.narrow(dim, 0, n - 2), widths.narrow(dim, 1, n - 2)
    inner = (slopes.narrow(dim, 0, n - 2) * right + slopes.narrow(dim, 1, n - 2) * left) / (left + right)
    first, last = slopes.narrow(dim, 0, 1), slopes.narrow(dim, n - 2, 1)
    if edge_order == 2:
        a, b = widths.narrow(dim, 0, 1), widths.narrow(dim, 1, 1)
        first = first + (first - slopes.narrow(dim, 1, 1)) * a / (a + b)
        a, b = widths.narrow(dim, n - 2, 1), widths.narrow(dim, n - 3, 1)
        last = last + (last - slopes.narrow(dim, n - 3, 1)) * a / (a + b)
    return torch.cat([first, inner, last], dim)


# ---- windows ----

def _window(window_length, periodic, weights, dtype, device, requires_grad):
    n = window_length + 1 if periodic else window_length
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if window_length <= 1:
        return torch.ones(window_length, dtype=dtype, device=device, requires_grad=requires_grad)
    angle = torch.arange(n, dtype=torch.float64, device=device) * (2 * math.pi / (n - 1))
    made = sum([w * torch.cos(k * angle) if k else torch.full_like(angle, w) for k, w in enumerate(weights)])
    return made[:window_length].to(dtype).requires_grad_(requires_grad)


def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    return _window(window_length, periodic, (0.5, -0.5), dtype, device, requires_grad)


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, requires_grad=False):
    return _window(window_length, periodic, (alpha, -beta), dtype, device, requires_grad)


def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    return _window(window_length, periodic, (0.42, -0.5, 0.08), dtype, device, requires_grad)


def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    n = window_length + 1 if periodic else window_length
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if window_length <= 1:
        return torch.ones(window_length, dtype=dtype, device=device, requires_grad=requires_grad)
    made = 1 - (torch.arange(n, dtype=torch.float64, device=device) * (2 / (n - 1)) - 1).abs()
    return made[:window_length].to(dtype).requires_grad_(requires_grad)


def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, requires_grad=False):
    n = window_length + 1 if periodic else window_length
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if window_length <= 1:
        return torch.ones(window_length, dtype=dtype, device=device, requires_grad=requires_grad)
    place = torch.arange(n, dtype=torch.float64, device=device) * (2 / (n - 1)) - 1
    made = i0(beta * torch.sqrt(1 - place * place)) / i0(torch.tensor(float(beta), dtype=torch.float64, device=device))
    return made[:window_length].to(dtype).requires_grad_(requires_grad)


# ---- questions ----

def is_signed(input):
    return input.is_signed()


def is_inference(input):
    return input.is_inference()


def get_device(input):
    return input.get_device()


def is_set_to(input, tensor):
    same = torch._C._same_storage(input, tensor) and input.shape == tensor.shape
    return same and input.stride() == tensor.stride() and input.storage_offset() == tensor.storage_offset()


def resolve_neg(input):
    return input


def poisson(input, generator=None):
    """Counts of a Poisson process, by the product of uniforms: exact, and slow for large rates."""
    limit = torch.exp(-input.to(torch.float64))
    count, product = torch.zeros_like(limit), torch.rand(input.shape, dtype=torch.float64, generator=generator)
    while bool((product > limit).any()):
        count = torch.where(product > limit, count + 1, count)
        product = torch.where(product > limit, product * torch.rand(input.shape, dtype=torch.float64, generator=generator), product)
    return count.to(input.dtype)
