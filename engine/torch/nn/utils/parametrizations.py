"""torch.nn.utils.parametrizations: weight_norm and spectral_norm by parametrize, and orthogonal."""
import torch
from torch.nn.modules.module import Module
from torch.nn.utils import parametrize


class _WeightNorm(Module):
    """A length for each row, and a direction."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def _length(self, v):
        if self.dim == -1:
            return torch.linalg.vector_norm(v)
        return torch.linalg.vector_norm(v, 2, [d for d in range(v.dim()) if d != self.dim % v.dim()], True)

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / self._length(weight_v))

    def right_inverse(self, weight):
        return self._length(weight), weight


def weight_norm(module, name="weight", dim=0):
    return parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """The weight over its largest singular value, which power iteration follows from step to step."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        self.dim = dim % weight.dim()
        self.n_power_iterations = n_power_iterations
        self.eps = eps
        if weight.dim() > 1:
            matrix = self._matrix(weight.detach())
            u = torch.nn.functional.normalize(matrix.new_empty([matrix.shape[0]]).normal_(0, 1), dim=0, eps=eps)
            v = torch.nn.functional.normalize(matrix.new_empty([matrix.shape[1]]).normal_(0, 1), dim=0, eps=eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            self._iterate(matrix, 15)

    def _matrix(self, weight):
        if self.dim != 0:
            weight = weight.movedim(self.dim, 0)
        return weight.flatten(1)

    def _iterate(self, matrix, times):
        with torch.no_grad():
            for _ in range(times):
                self._u.copy_(torch.nn.functional.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(torch.nn.functional.normalize(torch.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.dim() == 1:
            return torch.nn.functional.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.dot(u, torch.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    weight = getattr(module, name)
    transposed = isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d))
    dim = (1 if transposed else 0) if dim is None else dim
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


class _Orthogonal(Module):
    """The orthogonal factor of the matrix."""

    def forward(self, X):
        wide = X.shape[-2] < X.shape[-1]
        Q, R = torch.linalg.qr(X.mT if wide else X)
        Q = Q * R.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
        return Q.mT if wide else Q

    def right_inverse(self, Q):
        return Q


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    return parametrize.register_parametrization(module, name, _Orthogonal(), unsafe=True)
