"""einsum and tensordot, as permutations and one batched matrix product for each pair of operands.

    einsum("bij,bjk->bik", a, b): letters kept from both are the batch, letters summed away are the inner dim, the rest are rows and columns
"""
import torch
from torch.decompositions.shapes import size_of


def einsum(equation, *operands):
    if len(operands) == 1 and not isinstance(operands[0], torch.Tensor):
        operands = operands[0]
    inputs, output, sizes = read_equation(equation, operands)
    terms = [diagonal_of(tensor, letters) for tensor, letters in zip(operands, inputs)]
    tensor, letters = terms[0]
    for at in range(1, len(terms)):
        other, other_letters = terms[at]
        later = "".join([t[1] for t in terms[at + 1:]]) + output
        tensor, letters = contract(tensor, letters, other, other_letters, later, sizes)
    # What is left to be summed comes last, so that the sum is laid out as the output.
    rest = [letter for letter in letters if letter not in output]
    order = [letters.index(letter) for letter in output] + [letters.index(letter) for letter in rest]
    tensor = tensor.permute(order) if order != list(range(len(order))) else tensor
    return tensor.sum(list(range(len(output), len(order)))) if rest else tensor


def read_equation(equation, operands):
    """Letters of each operand and of the output, dims of `...` named by digits, and each letter's size."""
    equation = equation.replace(" ", "")
    left, arrow, output = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(operands):
        raise ValueError(f"einsum(): the equation has {len(texts)} operands, but {len(operands)} were given" if len(texts) > len(operands)
                         else "einsum(): more operands were provided than specified in the equation")
    hidden = [t.dim() - len(text.replace("...", "")) for t, text in zip(operands, texts)]
    most = max([n for n, text in zip(hidden, texts) if "..." in text] + [0])
    dots = "0123456789"[:most]
    inputs = []
    for tensor, text, count in zip(operands, texts, hidden):
        if count < 0 or (count > 0 and "..." not in text):
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(text)}) does not match the number of dimensions ({tensor.dim()}) for operand {len(inputs)} and no ellipsis was given")
        inputs.append(text.replace("...", dots[most - count:]))
    sizes = {}
    for tensor, letters in zip(operands, inputs):
        for letter, size in zip(letters, tensor.shape):
            if letter in sizes and sizes[letter] != size and sizes[letter] != 1 and size != 1:
                raise RuntimeError(f"einsum(): operands do not broadcast with remapped shapes [original->remapped]: subscript {letter} has size {size} for an operand which does not broadcast with previously seen size {sizes[letter]}")
            if letter not in sizes or sizes[letter] == 1:
                sizes[letter] = size
    if arrow:
        output = output.replace("...", dots)
    else:
        # Without an arrow: the letters that stand once, in alphabetical order.
        everything = "".join(inputs)
        output = dots + "".join(sorted([c for c in sizes if c not in dots and everything.count(c) == 1]))
    for letter in output:
        if letter not in sizes:
            raise RuntimeError(f"einsum(): output subscript {letter} does not appear in the equation for any input operand")
    return inputs, output, sizes


def diagonal_of(tensor, letters):
    """A letter that stands twice in one operand takes its diagonal."""
    at = 0
    while at < len(letters):
        other = letters.find(letters[at], at + 1)
        if other < 0:
            at += 1
            continue
        tensor = tensor.diagonal(0, at, other).movedim(-1, at)
        letters = letters[:other] + letters[other + 1:]
    return tensor, letters


def contract(a, a_letters, b, b_letters, later, sizes):
    """One operand out of two: letters that nobody needs later are summed away."""
    a, a_letters = sum_unshared(a, a_letters, b_letters + later)
    b, b_letters = sum_unshared(b, b_letters, a_letters + later)
    batch = [c for c in a_letters if c in b_letters and c in later]
    inner = [c for c in a_letters if c in b_letters and c not in later]
    rows = [c for c in a_letters if c not in b_letters]
    columns = [c for c in b_letters if c not in a_letters]
    letters = "".join(batch + rows + columns)
    if not inner:
        # Nothing is summed: a product of broadcast operands.
        left = arranged(a, a_letters, letters)
        return left * arranged(b, b_letters, letters), letters
    left = grouped(a, a_letters, batch, rows, inner, sizes)
    right = grouped(b, b_letters, batch, inner, columns, sizes)
    product = torch.bmm(left, right) if batch else torch.mm(left.squeeze(0), right.squeeze(0))
    return product.reshape([sizes[c] for c in letters]), letters


def sum_unshared(tensor, letters, needed):
    summed = [i for i, letter in enumerate(letters) if letter not in needed]
    if summed:
        tensor = tensor.sum(summed)
    return tensor, "".join([letter for letter in letters if letter in needed])


def arranged(tensor, letters, order):
    """The dims in the given order, missing ones with size 1."""
    present = [c for c in order if c in letters]
    tensor = tensor.permute([letters.index(c) for c in present])
    for at, letter in enumerate(order):
        if letter not in letters:
            tensor = tensor.unsqueeze(at)
    return tensor


def grouped(tensor, letters, batch, rows, columns, sizes):
    """A batch of matrices: three groups of letters, each one dim."""
    order = batch + rows + columns
    tensor = tensor.permute([letters.index(c) for c in order]).expand([sizes[c] for c in order])
    shape = [size_of([sizes[c] for c in group], range(len(group))) for group in (batch, rows, columns)]
    return tensor.reshape(shape)


def tensordot(a, b, dims=2):
    if isinstance(dims, int):
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left = [dims[0]] if isinstance(dims[0], int) else list(dims[0])
        right = [dims[1]] if isinstance(dims[1], int) else list(dims[1])
    left, right = [d % a.dim() for d in left], [d % b.dim() for d in right]
    for i, k in zip(left, right):
        if a.shape[i] != b.shape[k]:
            raise RuntimeError(f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} and second has size {b.shape[k]} in dim {k}")
    rows = [d for d in range(a.dim()) if d not in left]
    columns = [d for d in range(b.dim()) if d not in right]
    inner = size_of(a.shape, left)
    first = a.permute(rows + left).reshape([size_of(a.shape, rows), inner])
    second = b.permute(right + columns).reshape([inner, size_of(b.shape, columns)])
    return torch.mm(first, second).reshape([a.shape[d] for d in rows] + [b.shape[d] for d in columns])
