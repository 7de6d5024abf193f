# Host time to issue one eager op on small tensors of the card, in microseconds: "name us" a line. Runs under vitrine and under PyTorch.
import time
import torch
import torch.nn.functional as F

x, y, w = torch.ones(4, 8, device="cuda"), torch.ones(4, 8, device="cuda"), torch.ones(8, device="cuda")
m = torch.ones(64, 64, device="cuda")


def add(n):
    for i in range(n):
        x + y


def scaled(n):
    for i in range(n):
        x * 2.5


def row(n):
    for i in range(n):
        x + w


def in_place(n):
    for i in range(n):
        x.add_(y)


def relu(n):
    for i in range(n):
        torch.relu(x)


def total(n):
    for i in range(n):
        x.sum(1)


def softmax(n):
    for i in range(n):
        torch.softmax(x, 1)


def layer_norm(n):
    for i in range(n):
        F.layer_norm(x, (8,), w, w)


def gelu(n):
    for i in range(n):
        F.gelu(x)


def view(n):
    for i in range(n):
        x.t()


def matmul(n):
    for i in range(n):
        m @ m


def measure(name, f, n=200, bursts=60):
    """Bursts shorter than the driver's queue: behind a full queue one would time the card."""
    times = []
    f(200)
    for _ in range(bursts):
        torch.cuda.synchronize()
        start = time.perf_counter()
        f(n)
        times.append((time.perf_counter() - start) / n * 1e6)
    torch.cuda.synchronize()
    print(f"{name} {sorted(times)[bursts // 2]:.2f}")


for name, f in (("add", add), ("scaled", scaled), ("row", row), ("add_", in_place), ("relu", relu), ("sum", total), ("softmax", softmax), ("layer_norm", layer_norm), ("gelu", gelu), ("view", view), ("matmul", matmul)):
    measure(name, f)
