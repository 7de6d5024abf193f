"""What a backend sees of Python's arithmetic on sizes and of modes: nodes like others, named as by FX, in the order of the program."""
import operator
import torch

seen = []


def backend(gm, example_inputs):
    seen.append([node for node in gm.graph.nodes if node.op in ("call_function", "call_method")])
    return gm.forward


@torch.compile(backend=backend, dynamic=True)
def scaled(x):
    n = x.shape[0] // 2
    with torch.no_grad():
        s = x.sum() * n
    unused = n * 100
    return s + (n + 1)


assert scaled(torch.ones(6, 2)).item() == 12 * 3 + 4
assert scaled(torch.ones(8, 2)).item() == 16 * 4 + 5
assert len(seen) == 1
nodes = seen[0]
assert [node.name for node in nodes] == ["floordiv", "_set_grad_enabled", "sum_1", "s", "_set_grad_enabled_1", "add", "add_1"], [node.name for node in nodes]
assert nodes[0].target is operator.floordiv and nodes[5].target is operator.add
assert nodes[5].args[0] is nodes[0] and nodes[5].args[1] == 1
assert nodes[3].args[1] is nodes[0] and nodes[6].args[1] is nodes[5]
assert nodes[1].args == (False,) and nodes[4].args == (True,)


@torch.compile(backend=backend)
def lowered(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x
    with torch.no_grad():
        pass
    return y.float()


assert lowered(torch.ones(2, 2)).dtype == torch.float32
assert [node.name for node in seen[1]] == ["_enter_autocast", "y", "_exit_autocast", "float_1"], [node.name for node in seen[1]]


@torch.compile(backend=backend)
def stepped(x, rate):
    return x - rate * 2


for rate in (0.5, 0.25):
    assert stepped(torch.ones(2), rate).tolist() == [1 - rate * 2] * 2
names = [node.name for node in seen[-1]]
assert names[-1] == "sub" and "mul" in names, names


@torch.compile(backend=backend, dynamic=True)
def attended(q, n):
    scale = 1 / q.shape[-1]
    return q * scale + int(n * 1.5)


for width, n in ((4, 3), (8, 5)):
    assert attended(torch.ones(2, width), n)[0, 0].item() == 1 / width + int(n * 1.5)
names = [node.name for node in seen[-1]]
assert "truediv" in names and "sym_int" in names and names.index("truediv") < names.index("sym_int"), names
print("ok")
