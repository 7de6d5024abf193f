# torch.linalg and torch's own names of it: factorizations rebuild their matrix, gradients are those of differences, singular input is refused.
import math
import torch

torch.manual_seed(0)
A = torch.tensor([[4.0, 1, 2], [2, 3, 1], [0, 1, 5]], dtype=torch.float64)
S = A @ A.T
B = torch.randn(4, 3, dtype=torch.float64)


def near(a, b):
    return a.shape == b.shape and (a - b).abs().max() < 1e-10


def leaf(t):
    return t.clone().requires_grad_()


def refuses(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError(f"no {kind.__name__}")


eye = torch.eye(3, dtype=torch.float64)
assert near(torch.linalg.inv(A) @ A, eye) and near(torch.inverse(A), A.inverse())
assert near(torch.linalg.inv(torch.stack([A, 2 * A]))[1] * 2, torch.linalg.inv(A))
assert round(torch.det(A).item(), 9) == 50 and torch.linalg.det(torch.zeros(2, 2)).item() == 0
sign, logabsdet = torch.linalg.slogdet(-A)
assert sign.item() == -1 and math.isclose(logabsdet.item(), math.log(50))
b = torch.tensor([1.0, 2, 3], dtype=torch.float64)
assert near(A @ torch.linalg.solve(A, b), b) and near(A @ torch.linalg.solve(A, B.T), B.T)
L = torch.linalg.cholesky(S)
assert near(L @ L.T, S) and near(L, L.tril()) and near(torch.cholesky_solve(B.T, L), torch.linalg.solve(S, B.T))
for mode in ("reduced", "complete"):
    Q, R = torch.linalg.qr(B, mode)
    assert near(Q @ R, B) and near(Q.T @ Q, torch.eye(Q.shape[1], dtype=torch.float64)) and near(R, R.triu())
values, vectors = torch.linalg.eigh(S)
assert near(vectors @ torch.diag(values) @ vectors.T, S) and (values.diff() > 0).all()
for M in (B, B.T):
    U, s, Vh = torch.linalg.svd(M, full_matrices=False)
    assert near(U @ torch.diag(s) @ Vh, M) and (s.diff() < 0).all()
    U, s, Vh = torch.linalg.svd(M)
    assert near(U.T @ U, torch.eye(M.shape[0], dtype=torch.float64)) and near(Vh @ Vh.T, torch.eye(M.shape[1], dtype=torch.float64))
assert near(torch.linalg.pinv(B) @ B, eye) and torch.linalg.matrix_rank(torch.outer(b, b)).item() == 1
assert near(torch.linalg.lstsq(B, B @ b).solution, b)
assert near(torch.linalg.matrix_power(A, -2) @ A @ A, eye)
turn = torch.matrix_exp(torch.tensor([[0.0, 1], [-1, 0]], dtype=torch.float64))
assert near(turn, torch.tensor([[math.cos(1), math.sin(1)], [-math.sin(1), math.cos(1)]], dtype=torch.float64))
assert math.isclose(torch.linalg.norm(A, "nuc").item(), torch.linalg.svdvals(A).sum().item())
assert math.isclose(torch.linalg.norm(A, 2).item(), torch.linalg.svdvals(A).max().item())

check = torch.autograd.gradcheck
assert check(torch.linalg.inv, (leaf(A),)) and check(torch.linalg.det, (leaf(A),)) and check(torch.linalg.det, (leaf(torch.outer(b, b)[:2, :2]),))
assert check(torch.linalg.solve, (leaf(A), leaf(B.T))) and check(lambda a: torch.linalg.cholesky(a @ a.T), (leaf(A),))
assert check(lambda a: torch.linalg.eigh(a @ a.T)[0], (leaf(A),)) and check(lambda a: torch.linalg.eigh(a @ a.T)[1].abs(), (leaf(A),))
assert check(lambda a: torch.linalg.svd(a, False)[1], (leaf(B),)) and check(lambda a: torch.linalg.svd(a, False)[0].abs(), (leaf(B),))
assert check(lambda a: torch.linalg.svd(a, False)[2].abs(), (leaf(B.T),)) and check(lambda a: torch.linalg.qr(a)[0], (leaf(B),))

assert "singular" in refuses(torch.linalg.LinAlgError, lambda: torch.linalg.inv(torch.ones(2, 2)))
assert "positive-definite" in refuses(RuntimeError, lambda: torch.linalg.cholesky(-torch.eye(2)))
assert "square" in refuses(RuntimeError, lambda: torch.linalg.inv(torch.ones(2, 3)))
refuses(RuntimeError, lambda: torch.linalg.solve(torch.eye(3), torch.ones(4)))

print("ok")
