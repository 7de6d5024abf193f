"""The statements of random programs that index: reads and writes with slices, numbers, None, ellipsis, integer and boolean tensors and their mixtures.

In: the variables of a Maker. Out: `IndexMaker`, a part of it: make_index(a) -> (text, shape, is a view), do_get, do_set, do_probe_index, do_select_op.

    t3 = t0[None, [1, 0], ..., t2 > 0]

Invariant: the shape is the rules' of PyTorch: index tensors broadcast; their dims stand where the first one stood if they are neighbours, else first.
A write with an index tensor names no element twice.
"""
from shadow import Shadow, broadcast, numel


class IndexMaker:
    def make_index(self, a, unique=False):
        """Items for a's dims from the left; the rest is taken whole."""
        r, items, dim, taken = self.random, [], 0, r_count(self.random, a.rank)
        advanced, fancy_length = False, r_length(self.random)
        dims, fancy_shape = [], None
        while dim < taken:
            n, what = a.shape[dim], r.below(100)
            if what < 12:
                items.append('None')
                dims.append(1)
                continue
            if what < 45 or n == 0:
                text, count = self.slice_text(n)
                items.append(text)
                dims.append(count)
            elif what < 60:
                at = r.below(n)
                items.append(str(at - n if r.chance(30) else at))
            elif what < 85 or unique and advanced:
                values = self.fancy_values(n, fancy_length, unique and not advanced)
                if values is None:
                    continue
                text, shape = values
                if fancy_shape is not None and broadcast(fancy_shape, shape) is None:
                    continue
                items.append(text)
                fancy_shape = shape if fancy_shape is None else broadcast(fancy_shape, shape)
                advanced = True
            else:
                mask = [r.chance(50) for _ in range(n)]
                count = sum(mask)
                if fancy_shape is not None and broadcast(fancy_shape, (count,)) is None:
                    continue
                items.append(f'torch.tensor({mask})' if r.chance(70) else f'{mask}')
                fancy_shape = (count,) if fancy_shape is None else broadcast(fancy_shape, (count,))
                fancy_length = count
                advanced = True
            dim += 1
        if r.chance(25) or not items:
            items.append('...')
        dims += a.shape[dim:]
        if not advanced:
            return self.spell(items), tuple(dims), True
        return self.spell(items), placed(dims, fancy_shape, items), False

    def spell(self, items):
        text = ', '.join(items)
        return text + ',' if len(items) == 1 and items[0].startswith('[') else text

    def slice_text(self, n):
        r = self.random
        start, stop, step = r.below(n + 1), r.between(0, n + 1), r.pick((1, 1, 1, 2, 3))
        if stop <= start and r.chance(80):
            start, stop = 0, n
        count = max(0, -(-(min(stop, n) - start) // step))
        if start == 0 and stop >= n and step == 1:
            return ':', n
        first = str(start - n) if 0 < start < n and r.chance(40) else str(start) if start > 0 else ''
        return f'{first}:{stop}' + (f':{step}' if step > 1 else ''), count

    def fancy_values(self, n, length, unique):
        r = self.random
        if unique and length > n:
            length = n
        values = r.shuffled(range(n))[:length] if unique else [r.below(n) for _ in range(length)]
        if r.chance(30):
            values = [v - n for v in values]
        if r.chance(15) and len(values) == 4:
            return f'torch.tensor({values}).reshape(2, 2)', (2, 2)
        if r.chance(12) and values and not unique:
            return f'torch.tensor({values[0]})', ()
        if r.chance(30) and values:
            return f'{values}', (len(values),)
        dtype = r.pick(('int64', 'int64', 'int64', 'int32'))
        return f'torch.tensor({values}, dtype=torch.{dtype})', (len(values),)

    def do_get(self):
        a = self.any(lambda v: v.rank > 0) or self.base((2, 3))
        text, shape, is_view = self.make_index(a)
        if numel(shape) > 64 or len(shape) > 6:
            return self.probe(f'{a.name}[{text}]')
        # The layout of a view by index is not followed: no write goes through it by name of a variable whose strides are unknown.
        self.lines.append(f'show("get", {a.name}[{text}])')

    def do_set(self):
        a, r = self.any(lambda v: v.rank > 0 and v.count > 0 and not v.may_overlap()), self.random
        if a is None:
            return self.do_base()
        text, shape, _ = self.make_index(a, unique=True)
        if '[' in text and text.count('tensor') + text.count('[') > 2:  # several index tensors may name an element twice: one value for all
            value = self.value(a.dtype)
        else:
            source = tuple(1 if r.chance(25) else n for n in shape[r.below(len(shape) + 1):])
            if numel(source) > 40:
                source = ()
            value = self.literal(source, a.dtype if r.chance(70) else r.pick(('int64', 'bool', 'int8')) if a.dtype not in ('uint8',) else 'bool') if r.chance(70) else self.value(a.dtype)
        self.lines += ['try:', f'    {a.name}[{text}] = {value}', 'except Exception as error:', '    print("raises", type(error).__name__)']

    def do_probe_index(self):
        a, r = self.any() or self.base(), self.random
        n = a.shape[0] if a.rank > 0 else 1
        self.probe(r.pick((
            f'{a.name}[{n}]', f'{a.name}[{-n - 1}]', f'{a.name}[[{n}]]', f'{a.name}[torch.tensor([{n}])]', f'{a.name}[{", ".join(["0"] * (a.rank + 1))}]', f'{a.name}[torch.tensor([True] * {n + 1})]',
            f'{a.name}[0.5]', f'{a.name}["a"]', f'{a.name}[::-1]', f'{a.name}[1:0]', f'{a.name}[..., ...]', f'{a.name}[True]', f'{a.name}[False]', f'{a.name}[None]', f'{a.name}[...]', f'{a.name}[()]',
            f'{a.name}[torch.tensor([0.5])]', f'{a.name}[{a.name} == {a.name}]', f'{a.name}[[0, 0]]', f'{a.name}[torch.tensor(True)]', f'{a.name}[[]]', f'{a.name}[torch.tensor([], dtype=torch.int64)]',
            f'{a.name}[torch.zeros({n}, dtype=torch.uint8)]', f'{a.name}[:, None]', f'{a.name}[0, ..., 0]', f'{a.name}[[0], [0, 0]]', f'{a.name}[torch.tensor([0, 0]), torch.tensor([0, 0, 0])]',
            f'{a.name}.__setitem__(0, torch.zeros(7, 9))', f'{a.name}[[True] * {n}]', f'{a.name}[torch.ones(1, 1, 1, 1, 1, dtype=torch.bool)]', f'{a.name}[slice(None, None, 2)]', f'{a.name}[(0,)]')))

    def do_select_op(self):
        a, r = self.any(lambda v: v.rank > 0 and v.count > 0) or self.base((2, 3)), self.random
        if a.rank == 0 or a.count == 0:
            return
        dim = r.below(a.rank)
        n = a.shape[dim]
        picks = [r.below(n) for _ in range(r.between(0, 3))]
        index = f'torch.tensor({picks}, dtype=torch.int64)'
        self.probe(r.pick((
            f'{a.name}.index_select({dim}, {index})', f'{a.name}.masked_select({a.name} == {a.name})', f'torch.nonzero({a.name})', f'{a.name}.nonzero(as_tuple=True)', f'torch.take({a.name}, {index})',
            f'{a.name}.index_select({dim}, torch.tensor([{n}]))', f'torch.where({a.name} != 0)', f'{a.name}.unique()', f'torch.argwhere({a.name})', f'{a.name}.take_along_dim(torch.zeros_like({a.name}, dtype=torch.int64), {dim})',
            f'{a.name}.index_add({dim}, {index}, torch.ones_like({a.name}.index_select({dim}, {index})))', f'{a.name}.index_fill({dim}, {index}, {self.value(a.dtype)})')))


def r_count(random, rank):
    return random.between(1, rank)


def r_length(random):
    return random.pick((1, 2, 2, 3, 3, 4, 0))


def placed(dims, fancy_shape, items):
    """The result's shape: index tensors (numbers among them count as such) that are neighbours leave their dims where they stand."""
    kinds = ['fancy' if ('tensor' in text or '[' in text) else 'number' if text.lstrip('-').isdigit() else 'other' for text in items]
    marked = [i for i, kind in enumerate(kinds) if kind == 'fancy']
    first, last = marked[0], marked[-1]
    # A number is taken before index tensors are looked at, so it does not part them.
    adjacent = all(kinds[i] != 'other' for i in range(first, last + 1))
    if not adjacent:
        return tuple(fancy_shape) + tuple(dims)
    at = sum(1 for kind in kinds[:first] if kind == 'other')
    return tuple(dims[:at]) + tuple(fancy_shape) + tuple(dims[at:])
