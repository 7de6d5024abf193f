"""torch.linalg, as far as it is made of rows: norms and products. Decompositions (svd, eigh, solve …) are refused by name."""
import torch

aten = torch.ops.aten


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    return aten.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    rows, columns = dim[0] % A.dim(), dim[1] % A.dim()
    if ord == "fro":
        return aten.linalg_vector_norm(A, 2, [rows, columns], keepdim, dtype=dtype)
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise NotImplementedError(f"linalg.matrix_norm: order {ord} needs singular values, which are not supported")
    # The largest, or smallest, sum of magnitudes by column or row.
    summed, kept = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = A.abs().sum(summed, True)
    result = sums.amax(kept, True) if ord > 0 else sums.amin(kept, True)
    if keepdim:
        return result
    return result.squeeze(max(rows, columns)).squeeze(min(rows, columns))


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    matrix = ord is not None and (dim is None and A.dim() == 2 or isinstance(dim, (tuple, list)) and len(dim) == 2)
    if matrix:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return aten.linalg_vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def matmul(input, other):
    return torch.matmul(input, other)


def vecdot(x, y, *, dim=-1):
    return (x * y).sum(dim)


def cross(input, other, *, dim=-1):
    return torch.cross(input, other, dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return A.diagonal(offset, dim1, dim2)


def multi_dot(tensors):
    return torch.chain_matmul(*tensors)


def matrix_power(A, n):
    return torch.matrix_power(A, n)


def _refused(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"torch.linalg.{name} is not supported")
    return refuse


svd, eigh, eig, qr, inv, solve, cholesky, det, slogdet, lstsq, pinv, matrix_rank = [_refused(name) for name in (
    "svd", "eigh", "eig", "qr", "inv", "solve", "cholesky", "det", "slogdet", "lstsq", "pinv", "matrix_rank")]
