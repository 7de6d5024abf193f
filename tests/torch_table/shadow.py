"""Tensors without values: shape, strides and offset of what a random program's variables are, as the generator must know them to write sense.

In: how a variable is made from others (select, expand, unfold, as_strided …). Out: `Shadow`, with the text that makes it in the program.

    base = Shadow('t0', (3, 4), 'float32'); row = base.view('t1', (4,), (1,), 4)

Invariant: a Shadow's layout is PyTorch's; `exact` says that no value depends on rounding, so that steps (floor, comparisons) may follow.
"""


def contiguous_strides(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def numel(shape):
    count = 1
    for n in shape:
        count *= n
    return count


class Shadow:
    def __init__(self, name, shape, dtype, stride=None, offset=0, root=None, exact=True, grad=False):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype
        self.stride = contiguous_strides(shape) if stride is None else tuple(stride)
        self.offset, self.exact, self.grad = offset, exact, grad
        self.root = self if root is None else root
        self.room = numel(shape) if root is None else root.room  # elements of the storage, in units of this dtype

    def view(self, name, shape, stride, offset=None, dtype=None):
        made = Shadow(name, shape, dtype or self.dtype, stride, self.offset if offset is None else offset, self.root, self.exact, self.grad)
        made.room = self.room
        return made

    @property
    def rank(self):
        return len(self.shape)

    @property
    def count(self):
        return numel(self.shape)

    @property
    def is_float(self):
        return self.dtype in ('float64', 'float32', 'float16', 'bfloat16')

    def is_contiguous(self):
        step = 1
        for n, s in reversed(list(zip(self.shape, self.stride))):
            if n != 1 and s != step:
                return self.count == 0
            step *= n
        return True

    def overlaps(self):
        """Whether two indices may be one element: what PyTorch refuses to write through for expanded dims."""
        return self.count > 0 and any(n > 1 and s == 0 for n, s in zip(self.shape, self.stride))

    def may_overlap(self):
        """Whether strides do not show that elements are distinct (unfold, as_strided): such a write depends on the order of elements."""
        reach = 0
        for s, n in sorted((s, n) for n, s in zip(self.shape, self.stride) if n > 1):
            if s <= reach:
                return True
            reach += s * (n - 1)
        return False


def broadcast(a, b):
    """The common shape, or None."""
    rank, result = max(len(a), len(b)), []
    for i in range(rank):
        n = a[i - rank + len(a)] if i >= rank - len(a) else 1
        m = b[i - rank + len(b)] if i >= rank - len(b) else 1
        if n != m and n != 1 and m != 1:
            return None
        result.append(m if n == 1 else n)
    return tuple(result)
