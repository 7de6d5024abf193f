"""Bodies of the rows of linear algebra: elimination and Cholesky's factor, written with whole rows, so that they run in batches and are traced.

    linalg_inv(A)         Gauss and Jordan on [A | 1], with the largest pivot of each column
    linalg_det(A)         the product of those pivots, with the sign of the exchanges

To add one: a row in ops.def, a function here.
"""
import torch


def _need_square(A, name):
    if A.dim() < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")


def _identity(A):
    return torch.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand(A.shape)


def eliminate(A, B):
    """Brings A to the identity by exchanges and sums of rows, doing the same to B. Returns B, the pivots [..., n] and the sign of the exchanges."""
    n = A.shape[-1]
    rows = torch.arange(n, device=A.device)
    both = torch.cat([A, B], -1)
    sign = torch.ones(A.shape[:-2], dtype=A.dtype, device=A.device)
    pivots = []
    for k in range(n):
        best = torch.where(rows < k, -1, both[..., k].abs()).argmax(-1, True)
        order = torch.where(rows == k, best, torch.where(rows == best, k, rows))
        both = both.gather(-2, order.unsqueeze(-1).expand(both.shape))
        sign = torch.where(best.squeeze(-1) == k, sign, -sign)
        pivot = both[..., k, k]
        pivots.append(pivot)
        row = both[..., k:k + 1, :] / pivot.unsqueeze(-1).unsqueeze(-1)
        factors = torch.where(rows == k, 0, both[..., k]).unsqueeze(-1)
        both = torch.where((rows == k).unsqueeze(-1), row, both - factors * row)
    return both[..., n:], torch.stack(pivots, -1) if n > 0 else A.new_ones(A.shape[:-1]), sign


def _refuse_singular(pivots, name, what):
    if torch._C._is_eager() and bool((pivots == 0).any()):
        place = int((pivots == 0).reshape([-1, pivots.shape[-1]]).any(0).to(torch.int64).argmax()) + 1
        raise torch.linalg.LinAlgError(f"linalg.{name}: The diagonal element {place} is zero, {what} because the input matrix is singular.")


def linalg_inv(input):
    _need_square(input, "inv")
    result, pivots, sign = eliminate(input, _identity(input))
    _refuse_singular(pivots, "inv", "the inversion could not be completed")
    return result.contiguous()


def linalg_solve(A, B):
    _need_square(A, "solve")
    result, pivots, sign = eliminate(A, B)
    _refuse_singular(pivots, "solve", "the solve could not be completed")
    return result.contiguous()


def linalg_det(input):
    """Elimination below the diagonal only, where a zero pivot ends in a zero determinant and not in a division."""
    _need_square(input, "det")
    rows, A = torch.arange(input.shape[-1], device=input.device), input
    result = torch.ones(input.shape[:-2], dtype=input.dtype, device=input.device)
    for k in range(input.shape[-1]):
        best = torch.where(rows < k, -1, A[..., k].abs()).argmax(-1, True)
        order = torch.where(rows == k, best, torch.where(rows == best, k, rows))
        A = A.gather(-2, order.unsqueeze(-1).expand(A.shape))
        pivot = A[..., k, k]
        result = torch.where(best.squeeze(-1) == k, result, -result) * pivot
        safe = torch.where(pivot == 0, 1, pivot).unsqueeze(-1)
        A = A - torch.where(rows > k, A[..., k] / safe, 0).unsqueeze(-1) * A[..., k:k + 1, :]
    return result


def linalg_det_backward(g, input, y):
    """By the inverse; of a singular matrix by its cofactors, one determinant each."""
    n = input.shape[-1]
    if torch._C._is_eager() and not torch.is_grad_enabled() and not bool((y == 0).any()):
        return (g * y).unsqueeze(-1).unsqueeze(-1) * torch.ops.aten.linalg_inv(input).transpose(-2, -1)
    rows = []
    for i in range(n):
        others = [r for r in range(n) if r != i]
        row = []
        for j in range(n):
            minor = input[..., others, :][..., [c for c in range(n) if c != j]]
            row.append(torch.ops.aten.linalg_det(minor) * (-1.0) ** (i + j))
        rows.append(torch.stack(row, -1))
    return g.unsqueeze(-1).unsqueeze(-1) * torch.stack(rows, -2)


def linalg_cholesky(input):
    _need_square(input, "cholesky")
    n, rows = input.shape[-1], torch.arange(input.shape[-1], device=input.device)
    rest, columns = input, []
    for k in range(n):
        pivot = rest[..., k:k + 1, k]
        if torch._C._is_eager() and not bool((pivot > 0).all()):
            raise torch.linalg.LinAlgError(f"linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the leading minor of order {k + 1} is not positive-definite).")
        column = torch.where(rows < k, 0, rest[..., k] / torch.sqrt(pivot))
        columns.append(column)
        rest = rest - column.unsqueeze(-1) * column.unsqueeze(-2)
    return torch.stack(columns, -1) if n > 0 else input.clone()


def linalg_cholesky_backward(g, L):
    inner = torch.matmul(L.transpose(-2, -1), g).tril()
    symmetric = 0.5 * (inner + inner.tril(-1).transpose(-2, -1))
    inverse = torch.ops.aten.linalg_inv(L)
    return torch.matmul(inverse.transpose(-2, -1), torch.matmul(symmetric, inverse))


# ---- distances ----

def cdist_backward(g, x1, x2, p, y):
    """Of every pair's distance to both of the pair."""
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    of_apart = torch.ops.aten.linalg_vector_norm_backward(g, apart, p, y, [-1], False)
    return of_apart.sum(-2), -of_apart.sum(-3)


def _pdist_forward(input, p=2.0):
    """Each pair of rows once."""
    count = input.shape[0]
    pairs = torch.triu_indices(count, count, 1, device=input.device)
    return torch.ops.aten.linalg_vector_norm(input.index_select(0, pairs[0]) - input.index_select(0, pairs[1]), p, [1])
