# out=: shapes, dtypes, overlaps and gradients, and what a compiled region does with it.
import torch


def raises(kind, function):
    try:
        function()
    except Exception as error:
        assert type(error) is kind, (type(error), str(error))
        return
    assert False, "nothing was raised"


a, b = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
for shape in [(2, 3), (0,), (), (4, 3), (6,)]:
    out = torch.zeros(shape)
    assert torch.add(a, b, out=out) is out
    assert out.shape == (2, 3) and torch.equal(out, a + b)

# Booleans and integers go into floats, floats not into integers.
out = torch.zeros(1)
assert torch.equal(torch.eq(a, 2.0, out=out), (a == 2.0).float()) and out.dtype == torch.float32
raises(RuntimeError, lambda: torch.add(a, b, out=torch.zeros(2, 3, dtype=torch.int64)))
assert torch.sum(a, 0, out=torch.zeros(3, dtype=torch.float64)).dtype == torch.float64
raises(RuntimeError, lambda: torch.mm(a, b.t(), out=torch.zeros(2, 2, dtype=torch.float64)))

# Two results.
values, places = torch.zeros(1), torch.zeros(1, dtype=torch.int64)
torch.max(a, 1, out=(values, places))
assert values.tolist() == [2.0, 5.0] and places.tolist() == [2, 2]

# Memory that is read while it is written, or stands for several elements.
line = torch.arange(5.0)
raises(RuntimeError, lambda: torch.add(line[1:], 1, out=line[:-1]))
raises(RuntimeError, lambda: torch.add(torch.ones(3), 1, out=torch.zeros(1).expand(3)))
assert torch.mul(line, 2, out=line).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]

# The tape does not follow out=.
leaf = torch.ones(3, requires_grad=True)
raises(RuntimeError, lambda: torch.add(leaf, 1, out=torch.zeros(3)))
raises(RuntimeError, lambda: torch.add(torch.ones(3), 1, out=leaf))
with torch.no_grad():
    assert torch.add(leaf, 1, out=torch.zeros(3)).tolist() == [2.0, 2.0, 2.0]


@torch.compile
def into(x, y, target):
    torch.add(x, y, out=target)
    return target * 2


for shape in [(2, 3), (4,)]:
    target = torch.zeros(shape)
    assert torch.equal(into(a, b, target), (a + b) * 2) and torch.equal(target, a + b)
print("ok")
