"""torch.testing: assert_close, with PyTorch's tolerances by dtype."""
import torch

# rtol and atol
_TOLERANCES = {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}


def _tolerances(dtypes, rtol, atol):
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified")
    if rtol is not None:
        return rtol, atol
    known = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max([k[0] for k in known]), max([k[1] for k in known])


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True,
                 check_layout=True, check_stride=False, msg=None):
    if isinstance(actual, dict):
        if set(actual) != set(expected):
            raise AssertionError(f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {sorted(set(expected) - set(actual))}\nAdditional keys in the actual mapping: {sorted(set(actual) - set(expected))}")
        for key in actual:
            assert_close(actual[key], expected[key], rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype, msg=msg)
        return
    if isinstance(actual, (list, tuple)):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        for a, b in zip(actual, expected):
            assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype, msg=msg)
        return
    scalars = not isinstance(actual, torch.Tensor) and not isinstance(expected, torch.Tensor)
    actual = actual if isinstance(actual, torch.Tensor) else torch.tensor(actual, dtype=torch.float64 if isinstance(actual, float) else None)
    expected = expected if isinstance(expected, torch.Tensor) else torch.tensor(expected, dtype=torch.float64 if isinstance(expected, float) else None)
    _compare(actual, expected, rtol, atol, equal_nan, check_dtype and not scalars, msg, "Scalars" if scalars else "Tensor-likes")


def _compare(actual, expected, rtol, atol, equal_nan, check_dtype, msg, what):
    if actual.shape != expected.shape:
        raise AssertionError(f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}.")
    if check_dtype and actual.dtype != expected.dtype:
        raise AssertionError(f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}.")
    rtol, atol = _tolerances((actual.dtype, expected.dtype), rtol, atol)
    common = torch.promote_types(actual.dtype, expected.dtype)
    a, b = actual.detach().to(common), expected.detach().to(device=actual.device, dtype=common)
    close = torch.isclose(a, b, rtol, atol, equal_nan)
    if bool(close.all()):
        return
    if msg is not None:
        raise AssertionError(msg if isinstance(msg, str) else msg(_difference(a, b, close, rtol, atol, what)))
    raise AssertionError(_difference(a, b, close, rtol, atol, what))


def _place(flat, shape):
    index = []
    for size in reversed(list(shape)):
        index.insert(0, flat % size)
        flat = flat // size
    return tuple(index)


def _difference(a, b, close, rtol, atol, what):
    a, b = a.to(torch.float64), b.to(torch.float64)
    absolute = torch.where(close, 0.0, (a - b).abs())
    relative = torch.where(close, 0.0, (a - b).abs() / b.abs())
    if a.dim() == 0:
        return (f"{what} are not close!\n\nExpected {b.item()} but got {a.item()}.\nAbsolute difference: {absolute.item()} (up to {atol} allowed)\n"
                f"Relative difference: {relative.item()} (up to {rtol} allowed)")
    wrong, total = int(close.logical_not().sum()), close.numel()
    at, relative_at = int(absolute.argmax()), int(relative.argmax())
    return (f"{what} are not close!\n\nMismatched elements: {wrong} / {total} ({wrong / total:.1%})\n"
            f"Greatest absolute difference: {absolute.max().item()} at index {_place(at, a.shape)} (up to {atol} allowed)\n"
            f"Greatest relative difference: {relative.max().item()} at index {_place(relative_at, a.shape)} (up to {rtol} allowed)")
