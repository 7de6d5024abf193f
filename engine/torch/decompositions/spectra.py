"""Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations, with their gradients.

    values, vectors = Symmetric.apply(A)      ascending
    U, S, V = Singular.apply(A)               descending; A = U diag(S) V.mT, U and V with min(m, n) columns

A sweep turns every pair of columns until they are orthogonal; four to ten of them do. Computed in float64, so the rounding at the end is the only
error that shows in float32. The sign of a vector is arbitrary, here and in PyTorch.
"""
import torch

SWEEPS = 30


def _pairs(n):
    return [(p, q) for p in range(n) for q in range(p + 1, n)]


def _turn(x, p, q, c, s):
    """Columns p and q of x turned by the angle of (c, s)."""
    a, b = x[..., p], x[..., q]
    c, s = c.unsqueeze(-1), s.unsqueeze(-1)
    x = x.clone()
    x[..., p], x[..., q] = c * a - s * b, s * a + c * b
    return x


def orthogonal_columns(A):
    """One-sided Jacobi: V with A V of orthogonal columns."""
    n = A.shape[-1]
    V = torch.eye(n, dtype=A.dtype, device=A.device).expand(A.shape[:-2] + (n, n)).clone()
    for _ in range(SWEEPS):
        worst = 0.0
        for p, q in _pairs(n):
            alpha, beta, gamma = (A[..., p] ** 2).sum(-1), (A[..., q] ** 2).sum(-1), (A[..., p] * A[..., q]).sum(-1)
            angle = float((gamma.abs() / (alpha * beta).sqrt().clamp_min(1e-300)).max()) if gamma.numel() else 0.0
            worst = max(worst, angle)
            if not angle > 1e-15:
                continue
            zeta = (beta - alpha) / (2 * torch.where(gamma == 0, 1, gamma))
            t = torch.where(zeta >= 0, 1.0, -1.0) / (zeta.abs() + (1 + zeta * zeta).sqrt())
            t = torch.where(gamma == 0, 0, t)
            c = 1 / (1 + t * t).sqrt()
            A, V = _turn(A, p, q, c, c * t), _turn(V, p, q, c, c * t)
        if worst < 1e-14:
            break
    return A, V


def _separated(values):
    """1 / (v_j - v_i), and zero on the diagonal."""
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
    return torch.where(gaps == 0, 0, 1 / torch.where(gaps == 0, 1, gaps))


class Symmetric(torch.autograd.Function):
    @staticmethod
    def forward(ctx, A):
        x = A.to(torch.float64)
        n = x.shape[-1]
        # Shifted to be positive, its singular vectors are its eigenvectors.
        shift = x.abs().sum(-1).amax(-1) if n > 0 else x.new_zeros(x.shape[:-2])
        shifted = x + torch.eye(n, dtype=x.dtype, device=x.device) * (2 * shift + 1e-300).unsqueeze(-1).unsqueeze(-1)
        turned, V = orthogonal_columns(shifted)
        values = (V * (x @ V)).sum(-2)
        values, order = values.sort(-1)
        V = V.gather(-1, order.unsqueeze(-2).expand(V.shape))
        values, V = values.to(A.dtype), V.to(A.dtype)
        ctx.save_for_backward(values, V)
        return values, V

    @staticmethod
    def backward(ctx, of_values, of_vectors):
        values, V = ctx.saved_tensors
        inner = torch.diag_embed(of_values) + (V.mT @ of_vectors) * _separated(values)
        return V @ inner @ V.mT


class Singular(torch.autograd.Function):
    @staticmethod
    def forward(ctx, A):
        x = A.to(torch.float64)
        wide = x.shape[-2] < x.shape[-1]
        turned, V = orthogonal_columns(x.mT if wide else x)
        S = (turned * turned).sum(-2).sqrt()
        S, order = S.sort(-1, descending=True)
        places = order.unsqueeze(-2)
        turned, V = turned.gather(-1, places.expand(turned.shape)), V.gather(-1, places.expand(V.shape))
        U = turned / torch.where(S == 0, 1, S).unsqueeze(-2)
        if wide:
            U, V = V, U
        U, S, V = U.to(A.dtype), S.to(A.dtype), V.to(A.dtype)
        ctx.save_for_backward(U, S, V)
        return U, S, V

    @staticmethod
    def backward(ctx, of_U, of_S, of_V):
        U, S, V = ctx.saved_tensors
        squares = _separated(S * S)
        left, right = U.mT @ of_U, V.mT @ of_V
        inner = ((left - left.mT) * squares) * S.unsqueeze(-2) + S.unsqueeze(-1) * ((right - right.mT) * squares) + torch.diag_embed(of_S)
        result = U @ inner @ V.mT
        inverse = torch.where(S == 0, 0, 1 / torch.where(S == 0, 1, S))
        if U.shape[-2] > U.shape[-1]:
            outside = of_U - U @ left
            result = result + (outside * inverse.unsqueeze(-2)) @ V.mT
        if V.shape[-2] > V.shape[-1]:
            outside = of_V - V @ right
            result = result + U @ (outside * inverse.unsqueeze(-2)).mT
        return result
