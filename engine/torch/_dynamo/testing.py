"""torch._dynamo.testing: backends that count or keep what they are given.

    count = torch._dynamo.testing.CompileCounter()
    torch.compile(f, backend=count)(x)
    count.frame_count, count.op_count
"""


class CompileCounter:
    def __init__(self):
        self.frame_count = 0
        self.op_count = 0

    def __call__(self, gm, example_inputs):
        self.frame_count += 1
        self.op_count += len([node for node in gm.graph.nodes if "call" in node.op])
        return gm.forward

    def clear(self):
        self.frame_count = 0
        self.op_count = 0


class CompileCounterWithBackend(CompileCounter):
    """Counts; the graph is run op by op whatever the backend."""

    def __init__(self, backend):
        super().__init__()
        self.backend = backend
        self.graphs = []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        return super().__call__(gm, example_inputs)


class EagerAndRecordGraphs:
    def __init__(self):
        self.graphs = []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        return gm.forward


def same(a, b, tol=1e-4):
    import torch
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all([same(x, y, tol) for x, y in zip(a, b)])
    if isinstance(a, dict):
        return set(a.keys()) == set(b.keys()) and all([same(a[k], b[k], tol) for k in a])
    if isinstance(a, torch.Tensor):
        return a.shape == b.shape and torch.allclose(a, b, rtol=tol, atol=tol, equal_nan=True)
    return a == b
