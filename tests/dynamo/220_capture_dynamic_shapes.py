# config.capture_dynamic_output_shape_ops keeps nonzero in the graph.
import torch

torch._dynamo.config.capture_dynamic_output_shape_ops = True

@torch.compile
def f(x):
    i = torch.nonzero(x)
    return i * 2

print(f(torch.tensor([0.0, 1.0, 2.0])).tolist(), f(torch.tensor([0.0, 0.0, 2.0])).tolist())
