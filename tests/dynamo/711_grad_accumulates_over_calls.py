# Gradients accumulate over calls with other sizes; retain_graph.
import torch

w = torch.ones(2, requires_grad=True)

@torch.compile
def f(x):
    return (x * w).sum()

for n in (1, 2, 3):
    f(torch.ones(n, 2)).backward()
    print(w.grad.tolist())
y = f(torch.ones(1, 2))
y.backward(retain_graph=True)
y.backward()
print(w.grad.tolist())
