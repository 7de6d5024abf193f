"""Matrices under their names of torch: torch.inverse, torch.det, torch.cholesky … Each is torch.linalg's."""
import torch

METHODS = ("inverse", "det", "logdet", "slogdet", "cholesky", "qr", "svd", "pinverse", "matrix_exp", "triangular_solve", "cholesky_solve", "cholesky_inverse")


def inverse(input):
    return torch.linalg.inv(input)


def det(input):
    return torch.linalg.det(input)


def slogdet(input):
    return torch.linalg.slogdet(input)


def logdet(input):
    sign, logarithm = torch.linalg.slogdet(input)
    return torch.where(sign < 0, float("nan"), logarithm)


def cholesky(input, upper=False):
    return torch.linalg.cholesky(input, upper=upper)


def cholesky_solve(B, L, upper=False):
    factor = L.mT if upper else L
    return torch.linalg.solve_triangular(factor.mT, torch.linalg.solve_triangular(factor, B, upper=False), upper=True)


def cholesky_inverse(L, upper=False):
    return cholesky_solve(torch.eye(L.shape[-1], dtype=L.dtype, device=L.device), L, upper)


def qr(input, some=True):
    return torch.linalg.qr(input, "reduced" if some else "complete")


def svd(input, some=True, compute_uv=True):
    U, S, Vh = torch.linalg.svd(input, full_matrices=not some)
    return U, S, Vh.mT


def pinverse(input, rcond=1e-15):
    return torch.linalg.pinv(input, rtol=rcond)


def matrix_exp(input):
    return torch.linalg.matrix_exp(input)


def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False):
    matrix = A.mT if transpose else A
    return torch.linalg.solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular), A.clone()
