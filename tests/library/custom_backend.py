# A function of the program as torch.compile's backend: what it is given, what it may return, what its exceptions become.
import operator
import torch
import torch.fx

seen = []


def backend(gm: torch.fx.GraphModule, example_inputs):
    assert isinstance(gm, torch.fx.GraphModule)
    seen.append(([node.op for node in gm.graph.nodes], [tuple(x.shape) if isinstance(x, torch.Tensor) else x for x in example_inputs]))

    def run(*args):
        seen.append(len(args))
        return gm(*args)
    return run


@torch.compile(backend=backend)
def f(x, w):
    y = torch.relu(x) @ w
    return y.sum(dim=0) + x.shape[0], y


w = torch.ones(2, 3)
for n in (2, 3, 5):
    total, y = f(torch.ones(n, 2), w)
    assert total.tolist() == [3.0 * n] * 3 and y.shape == (n, 3)
calls = ["call_function", "call_function", "call_method", "call_function", "output"]
assert seen[0] == (["placeholder"] * 2 + calls, [(2, 2), (2, 3)]), seen[0]
assert seen[1] == 2
assert seen[2] == (["placeholder"] * 3 + calls, [3, (3, 2), (2, 3)]), seen[2]
assert seen[3:] == [3, 3]  # one entry serves both sizes

# gm.forward is enough; gradients go through the graph
x = torch.ones(3, requires_grad=True)
torch.compile(lambda x: (x * x).sum(), backend=lambda gm, inputs: gm.forward)(x).backward()
assert x.grad.tolist() == [2.0, 2.0, 2.0]

# another backend does not use its entries, the same one does
graphs = []


def count(gm, inputs):
    graphs.append([node.target for node in gm.graph.nodes if node.op == "call_function"])
    return gm


def g(x):
    return x + 1


for compiled in (torch.compile(g, backend=count), torch.compile(g, backend=count), torch.compile(g)):
    assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]
assert graphs == [[operator.add]], graphs


# exceptions
def fails(gm, inputs):
    raise ValueError("no")


try:
    torch.compile(g, backend=fails)(torch.ones(2))
    assert False
except torch._dynamo.exc.BackendCompilerFailed as e:
    assert str(e) == "backend='fails' raised:\nValueError: no", str(e)
try:
    torch.compile(g, backend=5)
    assert False
except TypeError:
    pass
print("ok")
