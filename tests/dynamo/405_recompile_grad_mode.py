# The same call under no_grad, enable_grad and inference mode.
import torch

@torch.compile
def f(x):
    return x * 3

x = torch.ones(3, requires_grad=True)
print(f(x).requires_grad)
with torch.no_grad():
    print(f(x).requires_grad)
print(f(x).requires_grad)
with torch.inference_mode():
    print(f(x).requires_grad)
