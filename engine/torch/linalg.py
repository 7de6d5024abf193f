"""torch.linalg: norms, products, and factorizations by elimination, reflections and Jacobi's rotations.

    torch.linalg.inv(A)     torch.linalg.solve(A, b)     Q, R = torch.linalg.qr(A)     values, vectors = torch.linalg.eigh(A)

All run in batches. inv, solve, det and cholesky are rows (decompositions/matrices.py); eigh and svd have a backward of their own
(decompositions/spectra.py). Eigenvalues of matrices that are not symmetric are complex, and refused by name.
"""
import math
import torch
from torch.decompositions.spectra import Symmetric, Singular

aten = torch.ops.aten
_qr = torch._C._return_type("linalg_qr", "Q", "R")
_eigh = torch._C._return_type("linalg_eigh", "eigenvalues", "eigenvectors")
_svd = torch._C._return_type("linalg_svd", "U", "S", "Vh")
_slogdet = torch._C._return_type("linalg_slogdet", "sign", "logabsdet")
_lstsq = torch._C._return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
_inv_ex = torch._C._return_type("linalg_inv_ex", "inverse", "info")
_cholesky_ex = torch._C._return_type("linalg_cholesky_ex", "L", "info")


class LinAlgError(RuntimeError):
    """A matrix that has no inverse, or no such factor."""


# ---- norms ----

def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    return aten.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    if A.dim() < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    rows, columns = dim[0] % A.dim(), dim[1] % A.dim()
    if ord == "fro":
        return aten.linalg_vector_norm(A, 2, [rows, columns], keepdim, dtype=dtype)
    if ord in ("nuc", 2, -2):
        values = svdvals((A if dtype is None else A.to(dtype)).movedim((rows, columns), (-2, -1)))
        result = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
        if keepdim:
            for at in sorted([rows, columns]):
                result = result.unsqueeze(at)
        return result
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    # The largest, or smallest, sum of magnitudes by column or row.
    summed, kept = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = A.abs().sum(summed, True, dtype=dtype)
    result = sums.amax(kept, True) if ord > 0 else sums.amin(kept, True)
    if keepdim:
        return result
    return result.squeeze(max(rows, columns)).squeeze(min(rows, columns))


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    matrix = ord is not None and (dim is None and A.dim() == 2 or isinstance(dim, (tuple, list)) and len(dim) == 2)
    if matrix:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if ord is not None and dim is None and A.dim() > 2:
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got " + str(A.dim()) + "D.")
    return aten.linalg_vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def cond(A, p=None, *, out=None):
    if p in (None, 2, -2):
        values = svdvals(A)
        most, least = values.amax(-1), values.amin(-1)
        return least / most if p == -2 else most / least
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


# ---- products ----

def matmul(input, other, *, out=None):
    return torch.matmul(input, other)


def vecdot(x, y, *, dim=-1, out=None):
    if not x.is_floating_point():
        raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {x.dtype}")
    return (x * y).sum(dim)


def cross(input, other, *, dim=-1, out=None):
    return torch.cross(input, other, dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return A.diagonal(offset, dim1, dim2)


def multi_dot(tensors, *, out=None):
    return torch.chain_matmul(*tensors)


def matrix_power(A, n, *, out=None):
    return torch.matrix_power(inv(A), -n) if n < 0 else torch.matrix_power(A, n)


def vander(x, N=None):
    powers = torch.arange(x.shape[-1] if N is None else N, device=x.device)
    return x.unsqueeze(-1).pow(powers)


def matrix_exp(A):
    """Scaled below a half, summed as a series, squared back."""
    _square(A, "matrix_exp")
    largest = float(A.detach().abs().sum(-1).amax()) if A.numel() > 0 else 0.0
    halvings = max(0, math.ceil(math.log2(largest)) + 1) if largest > 0 and math.isfinite(largest) else 0
    x = A / 2.0 ** halvings
    term = result = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand(A.shape)
    for k in range(1, 18):
        term = term @ x / k
        result = result + term
    for _ in range(halvings):
        result = result @ result
    return result


# ---- elimination ----

def _square(A, name):
    if A.dim() < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")
    if not A.is_floating_point():
        raise RuntimeError(f"linalg.{name}: Expected a floating point or complex tensor as input. Got {A.dtype}")
    return A


def inv(A, *, out=None):
    return aten.linalg_inv(_square(A, "inv"))


def inv_ex(A, *, check_errors=False, out=None):
    return _inv_ex(inv(A), torch.zeros(A.shape[:-2], dtype=torch.int32, device=A.device))


def det(A, *, out=None):
    return aten.linalg_det(_square(A, "det"))


def slogdet(A, *, out=None):
    determinant = det(A.to(torch.float64))
    return _slogdet(determinant.sign().to(A.dtype), determinant.abs().log().to(A.dtype))


def solve(A, B, *, left=True, out=None):
    _square(A, "solve")
    if not left:
        return solve(A.mT, B.mT).mT
    vector = B.dim() == 1 or B.dim() + 1 == A.dim() and B.shape == A.shape[:-1]
    right = B.unsqueeze(-1) if vector else B
    if right.shape[-2] != A.shape[-1]:
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x{A.shape[-1]} and {right.shape[-2]}x{right.shape[-1]})")
    batch = torch.broadcast_shapes(A.shape[:-2], right.shape[:-2])
    result = aten.linalg_solve(A.expand(batch + A.shape[-2:]), right.expand(batch + right.shape[-2:]))
    return result.squeeze(-1) if vector else result


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT
    A = torch.triu(A) if upper else torch.tril(A)
    if unitriangular:
        A = A - torch.diag_embed(A.diagonal(dim1=-2, dim2=-1)) + torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return solve(A, B)


def cholesky(A, *, upper=False, out=None):
    factor = aten.linalg_cholesky(_square(A, "cholesky"))
    return factor.mT if upper else factor


def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    return _cholesky_ex(cholesky(A, upper=upper), torch.zeros(A.shape[:-2], dtype=torch.int32, device=A.device))


def tensorinv(A, ind=2, *, out=None):
    size = math.prod(A.shape[ind:])
    return inv(A.reshape([-1, size])).reshape(A.shape[ind:] + A.shape[:ind])


def tensorsolve(A, B, dims=None, *, out=None):
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    return solve(A.reshape([B.numel(), -1]), B.reshape([-1])).reshape(A.shape[B.dim():])


# ---- reflections ----

def qr(A, mode="reduced", *, out=None):
    """Householder's reflections; the signs of R's diagonal are those LAPACK gives."""
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"linalg.qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    m, n = A.shape[-2], A.shape[-1]
    rows = torch.arange(m, device=A.device)
    R, Q = A, torch.eye(m, dtype=A.dtype, device=A.device).expand(A.shape[:-2] + (m, m))
    for k in range(min(m - 1, n)):
        x = torch.where(rows < k, 0, R[..., k])
        head = x[..., k:k + 1]
        length = (x * x).sum(-1, True).sqrt()
        v = torch.where(rows == k, head + torch.where(head < 0, -length, length), x)
        square = (v * v).sum(-1, True)
        scaled = (v * (2 / torch.where(square == 0, 1, square))).unsqueeze(-1)
        v = v.unsqueeze(-2)
        R = R - scaled @ (v @ R)
        Q = Q - (Q @ scaled) @ v
    R, k = torch.triu(R), min(m, n)
    if mode == "complete":
        return _qr(Q, R)
    return _qr(Q[..., :k] if mode == "reduced" else A.new_empty([0]), R[..., :k, :])


# ---- spectra ----

def eigh(A, UPLO="L", *, out=None):
    _square(A, "eigh")
    lower = torch.tril(A) if UPLO == "L" else torch.triu(A).mT
    values, vectors = Symmetric.apply(lower + torch.tril(lower, -1).mT)
    return _eigh(values, vectors)


def eigvalsh(A, UPLO="L", *, out=None):
    return eigh(A, UPLO)[0]


def svd(A, full_matrices=True, *, driver=None, out=None):
    U, S, V = Singular.apply(A)
    if full_matrices:
        U, V = _completed(U), _completed(V)
    return _svd(U, S, V.mT)


def _completed(U):
    """Orthonormal columns, and as many more as make a square."""
    m, k = U.shape[-2], U.shape[-1]
    if m == k:
        return U
    Q = qr(U.detach(), "complete")[0]
    return torch.cat([U, Q[..., k:]], -1)


def svdvals(A, *, driver=None, out=None):
    return Singular.apply(A)[1]


def pinv(A, *, atol=None, rtol=None, hermitian=False, out=None):
    U, S, V = Singular.apply(A)
    rtol = max(A.shape[-2:]) * torch.finfo(A.dtype).eps if rtol is None else rtol
    limit = torch.clamp_min(S.amax(-1, True) * rtol, 0.0 if atol is None else atol)
    return (V * torch.where(S > limit, 1 / torch.where(S > limit, S, 1), 0).unsqueeze(-2)) @ U.mT


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False, out=None):
    S = svdvals(A)
    rtol = max(A.shape[-2:]) * torch.finfo(A.dtype).eps if rtol is None else rtol
    return (S > torch.clamp_min(S.amax(-1, True) * rtol, 0.0 if atol is None else atol)).sum(-1)


def lstsq(A, B, rcond=None, *, driver=None):
    m, n = A.shape[-2], A.shape[-1]
    right = B.unsqueeze(-1) if B.dim() == 1 else B
    if m >= n:
        Q, R = qr(A)
        solution = solve_triangular(R, Q.mT @ right, upper=True)
        residuals = ((A @ solution - right) ** 2).sum(-2) if m > n else A.new_empty([0])
    else:
        Q, R = qr(A.mT)
        solution, residuals = Q @ solve_triangular(R.mT, right, upper=False), A.new_empty([0])
    rank = matrix_rank(A.detach())
    return _lstsq(solution.squeeze(-1) if B.dim() == 1 else solution, residuals, rank, A.new_empty([0]))


def _refused(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"torch.linalg.{name} is not supported")
    return refuse


eig, eigvals, lu, lu_factor, lu_solve, ldl_factor, householder_product = [_refused(name) for name in (
    "eig", "eigvals", "lu", "lu_factor", "lu_solve", "ldl_factor", "householder_product")]
