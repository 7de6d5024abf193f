/* Tensors in the language: how they print, every kind of subscript, methods, the tape's rules, in-place ops and views, errors.
 * Expected texts are what PyTorch 2.11 prints. */
#include "torch_script.h"

START_TEST(printing) {
    ck_prints("import torch\nprint(torch.tensor(3.5), torch.tensor([1, 2, 3]), torch.tensor([True, False]))\n", "tensor(3.5000) tensor([1, 2, 3]) tensor([ True, False])\n");
    ck_prints("import torch\nprint(torch.tensor([1.0, 2.5, -3.25]), torch.tensor([1e-8, 1.0]), torch.tensor([1e9, 1.5]))\n",
              "tensor([ 1.0000,  2.5000, -3.2500]) tensor([1.0000e-08, 1.0000e+00]) tensor([1.0000e+09, 1.5000e+00])\n");
    ck_prints("import torch\nprint(torch.tensor([float('nan'), float('inf'), -1.0]))\nprint(torch.zeros(0), torch.zeros(2, 0), torch.zeros(0, dtype=torch.int64))\n",
              "tensor([nan, inf, -1.])\ntensor([]) tensor([], size=(2, 0)) tensor([], dtype=torch.int64)\n");
    ck_prints("import torch\nprint(torch.arange(2000))\nprint(torch.arange(4.0).reshape(2, 1, 2))\n", "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])\ntensor([[[0., 1.]],\n\n        [[2., 3.]]])\n");
    ck_prints("import torch\nprint(torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.int32))\n", "tensor([1., 1.], dtype=torch.float64) tensor([1, 1], dtype=torch.int32)\n");
    ck_prints("import torch\nx = torch.ones(2, requires_grad=True)\nprint(x, x * 2, x.sum(), x[0], x.t())\n",
              "tensor([1., 1.], requires_grad=True) tensor([2., 2.], grad_fn=<MulBackward0>) tensor(2., grad_fn=<SumBackward0>) tensor(1., grad_fn=<SelectBackward0>) tensor([1., 1.], grad_fn=<TBackward0>)\n");
    ck_prints("import torch\nprint(torch.arange(24).float())\n",
              "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n        14., 15., 16., 17., 18., 19., 20., 21., 22., 23.])\n");
}
END_TEST

START_TEST(print_options) {
    ck_prints("import torch\ntorch.set_printoptions(precision=2)\nprint(torch.tensor([1.23456]))\ntorch.set_printoptions(profile='default', sci_mode=True)\nprint(torch.tensor([1.5]))\n",
              "tensor([1.23])\ntensor([1.5000e+00])\n");
    ck_prints("import torch\ntorch.set_printoptions(threshold=3, edgeitems=1)\nprint(torch.arange(9).reshape(3, 3))\n", "tensor([[0,  ..., 2],\n        ...,\n        [6,  ..., 8]])\n");
}
END_TEST

START_TEST(texts_of_small_things) {
    ck_prints("import torch\nx = torch.ones(2, 3)\nprint(x.shape, x.dtype, x.device, x.size(), repr(x.device), [torch.tensor(1)], x.size(-1), x.stride(), x.numel())\n",
              "torch.Size([2, 3]) torch.float32 cpu torch.Size([2, 3]) device(type='cpu') [tensor(1)] 3 (3, 1) 6\n");
    ck_prints("import torch\nprint(f'{torch.tensor(3.14159):.3f} {torch.tensor(2)} {torch.tensor([1.0, 2.0])}')\n", "3.142 2 tensor([1., 2.])\n");
}
END_TEST

START_TEST(making_tensors) {
    ck_prints("import torch\nprint(torch.tensor([[1, 2], [3, 4.5]]).dtype, torch.tensor([1, True]).dtype, torch.tensor([]).dtype, torch.tensor(True).dtype, torch.tensor([[]]).shape)\n",
              "torch.float32 torch.int64 torch.float32 torch.bool torch.Size([1, 0])\n");
    ck_prints("import torch\ndef t(f):\n    try:\n        f()\n        print('ok')\n    except Exception as e:\n        print(type(e).__name__, e)\n"
              "t(lambda: torch.tensor([[1, 2], [3]]))\nt(lambda: torch.tensor([1, [2]]))\nt(lambda: torch.tensor([[1], 2]))\nt(lambda: torch.tensor('a'))\nt(lambda: torch.tensor([300], dtype=torch.uint8))\n",
              "ValueError expected sequence of length 2 at dim 1 (got 1)\nTypeError must be real number, not list\nTypeError not a sequence\nTypeError new(): invalid data type 'str'\nRuntimeError value cannot be converted to type uint8 without overflow\n");
}
END_TEST

START_TEST(basic_subscripts) {
    ck_prints("import torch\nx = torch.arange(24).reshape(2, 3, 4)\nprint(x[1, 2, 3].item(), x[-1, 0].tolist(), x[:, 1:, ::2].tolist(), x[..., 0].tolist(), x[0, None, 1].shape, x[..., None].shape)\n",
              "23 [12, 13, 14, 15] [[[4, 6], [8, 10]], [[16, 18], [20, 22]]] [[0, 4, 8], [12, 16, 20]] torch.Size([1, 4]) torch.Size([2, 3, 4, 1])\n");
    ck_prints("import torch\nx = torch.arange(6)\nv = x[2:4]\nv += 10\nprint(x.tolist(), x[:].data_ptr() == x.data_ptr(), x[True].shape, x[False].shape)\n", "[0, 1, 12, 13, 4, 5] True torch.Size([1, 6]) torch.Size([0, 6])\n");
    ck_prints("import torch\nx = torch.ones(2, 3)\nfor k in [5, (0, 0, 0), (slice(None), -4), 'a', 1.5]:\n    try:\n        x[k]\n    except Exception as e:\n        print(type(e).__name__)\n",
              "IndexError\nIndexError\nIndexError\nTypeError\nIndexError\n"); /* a string is a sequence, of which no tensor can be made */
}
END_TEST

START_TEST(advanced_subscripts) {
    ck_prints("import torch\nx = torch.arange(12).reshape(3, 4)\ni = torch.tensor([2, 0])\nprint(x[i].tolist(), x[:, i].tolist(), x[[0, 1], [1, 2]].tolist(), x[i, 1:3].tolist())\n",
              "[[8, 9, 10, 11], [0, 1, 2, 3]] [[2, 0], [6, 4], [10, 8]] [1, 6] [[9, 10], [1, 2]]\n");
    ck_prints("import torch\nx = torch.arange(12).reshape(3, 4)\nprint(x[x > 7].tolist(), x[torch.tensor([True, False, True])].tolist(), x[:, torch.tensor([False, True, False, True])].tolist())\n",
              "[8, 9, 10, 11] [[0, 1, 2, 3], [8, 9, 10, 11]] [[1, 3], [5, 7], [9, 11]]\n");
    ck_prints("import torch\nx = torch.arange(24).reshape(2, 3, 4)\nprint(x[[0, 1], :, [1, 2]].shape, x[:, [0, 1], [1, 2]].shape, x[torch.tensor([[0, 1]])].shape, x[..., [0]].shape)\n",
              "torch.Size([2, 3]) torch.Size([2, 2]) torch.Size([1, 2, 3, 4]) torch.Size([2, 3, 1])\n");
}
END_TEST

START_TEST(assignments) {
    ck_prints("import torch\nx = torch.zeros(3, 4)\nx[0] = 1\nx[1:, 0] = torch.tensor([5.0, 6.0])\nx[2, [1, 3]] = 7\nx[x > 6] = -1\nx[..., 2] += 2\nprint(x.tolist())\n",
              "[[1.0, 1.0, 3.0, 1.0], [5.0, 0.0, 2.0, 0.0], [6.0, -1.0, 2.0, -1.0]]\n");
    ck_prints("import torch\nx = torch.zeros(4)\nx[torch.tensor([0, 0, 1])] += 1\nx[torch.tensor([True, False, False, True])] = torch.tensor([8.0, 9.0])\nprint(x.tolist())\n", "[8.0, 1.0, 0.0, 9.0]\n");
}
END_TEST

START_TEST(operators) {
    ck_prints("import torch\nx = torch.tensor([1.0, 2.0, 4.0])\nprint((2 - x).tolist(), (2 / x).tolist(), (2 ** x).tolist(), (x // 2).tolist(), (x % 3).tolist(), (-x).tolist(), abs(-x).tolist(), (x @ x).item())\n",
              "[1.0, 0.0, -2.0] [2.0, 1.0, 0.5] [2.0, 4.0, 16.0] [0.0, 1.0, 2.0] [1.0, 2.0, 1.0] [-1.0, -2.0, -4.0] [1.0, 2.0, 4.0] 21.0\n");
    ck_prints("import torch\ni = torch.tensor([5, 6])\nprint((i & 3).tolist(), (i | 8).tolist(), (i ^ 1).tolist(), (~i).tolist(), (i << 1).tolist(), (1 < i).tolist(), (i == torch.tensor([5, 7])).tolist(), i.dtype, (i / 2).dtype)\n",
              "[1, 2] [13, 14] [4, 7] [-6, -7] [10, 12] [True, True] [True, False] torch.int64 torch.float32\n");
    ck_prints("import torch\nx = torch.ones(2)\nprint(x == None, x != 'a', 1.0 in x, len(x), [v.item() for v in x], bool(torch.tensor(0)), max(torch.tensor(1), torch.tensor(3)).item())\n", "False True True 2 [1.0, 1.0] False 3\n");
}
END_TEST

START_TEST(out_and_named_results) {
    ck_prints("import torch\na = torch.ones(2)\nb = torch.zeros(2)\nr = torch.sub(b, a, out=b)\nprint(b.tolist(), r is b)\nm = torch.tensor([[1.0, 3.0], [4.0, 2.0]]).max(dim=1)\nprint(m.values.tolist(), m.indices.tolist())\nv, i = torch.sort(torch.tensor([3, 1, 2]))\nprint(v.tolist(), i.tolist())\n",
              "[-1.0, -1.0] True\n[3.0, 4.0] [1, 0]\n[1, 2, 3] [1, 2, 0]\n");
}
END_TEST

START_TEST(gradients_of_leaves) {
    ck_prints("import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\ny = (x * x).sum()\ny.backward()\nprint(x.grad)\n(x * 3).sum().backward()\nprint(x.grad, x.is_leaf, y.is_leaf)\nx.grad = None\nprint(x.grad)\n",
              "tensor([2., 4.])\ntensor([5., 7.]) True False\nNone\n");
    ck_prints("import torch\na = torch.ones(2, 3, requires_grad=True)\nb = torch.ones(3, requires_grad=True)\n(a * b).sum().backward()\nprint(a.grad.shape, b.grad.tolist())\n", "torch.Size([2, 3]) [2.0, 2.0, 2.0]\n");
}
END_TEST

START_TEST(gradient_functions) {
    ck_prints("import torch\nx = torch.tensor([0.5, 1.0], requires_grad=True)\ng, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\nprint(g.tolist(), g.requires_grad)\nh, = torch.autograd.grad(g.sum(), x)\nprint(h.tolist())\n",
              "[0.75, 3.0] True\n[3.0, 6.0]\n");
    ck_prints("import torch\nx = torch.ones(2, requires_grad=True)\nz = torch.ones(2, requires_grad=True)\ng = torch.autograd.grad(x.sum(), [x, z], allow_unused=True)\nprint(g[0].tolist(), g[1])\n", "[1.0, 1.0] None\n");
    ck_prints("import torch\nx = torch.ones(2, requires_grad=True)\ny = torch.ones(2, requires_grad=True)\na, b = torch.autograd.grad((x + y).sum(), [x, y])\nprint(a is b, a.data_ptr() == b.data_ptr())\n", "False False\n");
}
END_TEST

START_TEST(graph_is_freed) {
    ck_prints("import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward(retain_graph=True)\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError as e:\n    print('second time' in str(e), x.grad.tolist())\n", "True [4.0, 4.0]\n");
}
END_TEST

START_TEST(hooks_and_retained_gradients) {
    ck_prints("import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\ny.retain_grad()\nh = y.register_hook(lambda g: g * 10)\nx.register_hook(lambda g: print('x', g.tolist()))\ny.sum().backward()\nprint(y.grad.tolist(), x.grad.tolist())\nh.remove()\n",
              "x [20.0, 20.0]\n[10.0, 10.0] [20.0, 20.0]\n");
}
END_TEST

START_TEST(inplace_and_versions) {
    ck_prints("import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\nz = y * y\ny.add_(1)\ntry:\n    z.sum().backward()\nexcept RuntimeError as e:\n    print('inplace operation' in str(e), 'version 1; expected version 0' in str(e))\n", "True True\n");
    ck_prints("import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\ny.mul_(y)\nprint(y)\ny.sum().backward()\nprint(x.grad)\n", "tensor([4., 4.], grad_fn=<MulBackward0>)\ntensor([8., 8.])\n");
    ck_prints("import torch\nfor f in [lambda x: x.add_(1), lambda x: x[0].add_(1), lambda x: x.sigmoid_()]:\n    try:\n        f(torch.ones(2, requires_grad=True))\n    except RuntimeError as e:\n        print('leaf' in str(e))\n", "True\nTrue\nTrue\n");
}
END_TEST

START_TEST(inplace_on_views) {
    ck_prints("import torch\nx = torch.ones(2, 3, requires_grad=True)\ny = x * 2\nv = y[0]\nw = y[:, 1]\nv.mul_(torch.tensor([1.0, 2.0, 3.0]))\nprint(y)\nprint(v, w)\n(y.sum() + w.sum()).backward()\nprint(x.grad.tolist())\n",
              "tensor([[2., 4., 6.],\n        [2., 2., 2.]], grad_fn=<CopySlices>)\ntensor([2., 4., 6.], grad_fn=<AsStridedBackward0>) tensor([4., 2.], grad_fn=<AsStridedBackward0>)\n[[2.0, 8.0, 6.0], [2.0, 4.0, 2.0]]\n");
    ck_prints("import torch\nx = torch.ones(4, requires_grad=True)\ny = x * 1\ny[1:3] = 0\ny[0] += 5\ny.sum().backward()\nprint(x.grad.tolist(), y.tolist())\n", "[1.0, 0.0, 0.0, 1.0] [6.0, 0.0, 0.0, 1.0]\n");
    ck_prints("import torch\nx = torch.ones(3, requires_grad=True)\nbuf = torch.zeros(2, 3)\nbuf[0] = x * 2\nbuf.t()[1].mul_(3)\nbuf.sum().backward()\nprint(x.grad.tolist())\n", "[2.0, 6.0, 2.0]\n");
}
END_TEST

START_TEST(modes) {
    ck_prints("import torch\nx = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\n    with torch.enable_grad():\n        z = x * 2\nprint(y.requires_grad, z.requires_grad, torch.is_grad_enabled())\n@torch.no_grad()\ndef f(x):\n    return x * 2\nprint(f(x).requires_grad)\nwith torch.inference_mode():\n    print((x * 2).requires_grad)\n",
              "False True True\nFalse\nFalse\n");
}
END_TEST

START_TEST(custom_functions) {
    ck_prints("import torch\nclass Cube(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, k):\n        ctx.save_for_backward(x)\n        ctx.k = k\n        return x ** 3 * k\n    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return g * 3 * x ** 2 * ctx.k, None\n"
              "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = Cube.apply(x, 2.0)\nprint(y)\ny.sum().backward()\nprint(x.grad)\n", "tensor([ 2., 16.], grad_fn=<CubeBackward>)\ntensor([ 6., 24.])\n");
}
END_TEST

START_TEST(undefined_gradients_stay_undefined) {
    ck_prints("import torch\nx = torch.tensor([0.0, 1.0], requires_grad=True)\na = x.sqrt()\nb = x * 2\nb.sum().backward()\nprint(x.grad.tolist())\ny = torch.zeros(2, requires_grad=True)\nq, r = torch.split(torch.cat([y, y.log()]), 2)\nq.sum().backward()\nprint(y.grad.tolist())\n",
              "[2.0, 2.0]\n[nan, nan]\n");
}
END_TEST

START_TEST(conversions) {
    ck_prints("import torch\nx = torch.tensor([1.7, -2.2])\nprint(x.int().tolist(), x.to(torch.int64).dtype, x.half().dtype, x.double().dtype, x.float() is x, x.to('cpu') is x, x.type(), x.bool().tolist(), x.to(torch.ones(1, dtype=torch.float64)).dtype)\n",
              "[1, -2] torch.int64 torch.float16 torch.float64 True True torch.FloatTensor [True, True] torch.float64\n");
    ck_prints("import torch\nprint(torch.finfo(torch.float32).max, torch.iinfo(torch.int8).min, torch.promote_types(torch.int32, torch.float16), torch.result_type(torch.ones(1, dtype=torch.int32), 2.5))\n", "3.4028234663852886e+38 -128 torch.float16 torch.float32\n");
}
END_TEST

int main(void) {
    const TTest *tests[] = {printing, print_options, texts_of_small_things, making_tensors, basic_subscripts, advanced_subscripts, assignments, operators, out_and_named_results, gradients_of_leaves,
                            gradient_functions, graph_is_freed, hooks_and_retained_gradients, inplace_and_versions, inplace_on_views, modes, custom_functions, undefined_gradients_stay_undefined, conversions};
    return UNIT_RUN("tensor", tests, NULL, NULL);
}
