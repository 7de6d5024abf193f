/* The tracing domain: code over fake tensors becomes graph nodes; the tape runs on fakes; composites are one node for trace_op; sizes may be symbolic. */
#include "torch_script.h"
#include "vm/tracing.h"

typedef struct Trace { Script *script; Graph *graph; Tracer tracer; SymTable *syms; int next_id; } Trace;

static Trace *trace_open(const char *program) {
    Script *s = script_open();
    Trace *t = ARENA_NEW(s->arena, Trace);
    bool ok = script_execute(s, program);
    ck_assert_msg(ok, "%s", text_cstr(&s->notes));
    t->script = s;
    t->syms = sym_table_new(s->arena);
    t->graph = graph_new(s->arena, "test", t->syms, &t->next_id);
    trace_begin(&t->tracer, s->vm, t->graph);
    return t;
}

static void trace_close(Trace *t) {
    trace_end(&t->tracer);
    script_close(t->script);
}

static Tensor *trace_input(Trace *t, const char *name, int rank, const Dim *sizes) {
    Meta meta = meta_new(DTYPE_F32, (Device){DEVICE_CPU, 0}, rank, sizes);
    if (!meta_is_static(&meta)) meta_set_contiguous(&meta, t->syms);
    return trace_tensor(&t->tracer, graph_input(t->graph, name, &meta, (Span){0}), 0);
}

static Value trace_call(Trace *t, const char *function, Value *args, int nargs) {
    VM *vm = t->script->vm;
    Value f = dict_get_name(vm, vm->main->dict, intern(vm->lang->names, function)), result = vm_call(vm, f, args, nargs, NULL);
    if (value_is_error(result)) {
        vm_print_exception(vm, &t->script->notes);
        ck_abort_msg("%s", text_cstr(&t->script->notes));
    }
    return result;
}

/* The calls of the graph: "mm relu sum", and whether every tensor is an earlier node. */
static const char *calls_of(Trace *t) {
    Text text = {0};
    for (int i = 0; i < t->graph->nodes.count; i++) {
        const Node *node = t->graph->nodes.at[i];
        if (node->kind == NODE_CALL) text_printf(&text, "%s%s", text.length ? " " : "", node->op->name);
    }
    char *copy = text_in(&text, t->script->arena);
    text_free(&text);
    return copy;
}

START_TEST(ops_become_nodes) {
    Trace *t = trace_open("import torch\ndef f(x, y):\n    return torch.relu(x @ y).sum(0) * 2 + x.shape[0]\n");
    Value args[] = {value_tensor(trace_input(t, "x", 2, (Dim[]){3, 4})), value_tensor(trace_input(t, "y", 2, (Dim[]){4, 5}))};
    Value result = trace_call(t, "f", args, 2);
    ck_assert_str_eq(calls_of(t), "mm relu sum mul add");
    ck_assert_int_eq(((Tensor *)result.o)->meta.sizes[0], 5);
    ck_assert_ptr_nonnull(((Tensor *)result.o)->node);
    for (int i = 0; i < 2; i++) value_unref(t->script->vm, args[i]);
    value_unref(t->script->vm, result);
    trace_close(t);
}
END_TEST

START_TEST(backward_is_traced) {
    Trace *t = trace_open("import torch\ndef f(x, w):\n    return torch.relu(x @ w)\n");
    VM *vm = t->script->vm;
    Tensor *x = trace_input(t, "x", 2, (Dim[]){3, 4}), *w = trace_input(t, "w", 2, (Dim[]){4, 5}), *g = trace_input(t, "g", 2, (Dim[]){3, 5});
    x->requires_grad = w->requires_grad = true;
    Value args[] = {value_tensor(x), value_tensor(w)}, y = trace_call(t, "f", args, 2);
    Tensor *root = (Tensor *)y.o, *inputs[] = {x, w}, *grads[2];
    ck_assert(autograd_run(vm, &root, &g, 1, inputs, grads, 2, false, false));
    ck_assert_str_eq(calls_of(t), "mm relu threshold_backward t mm t mm");
    ck_assert(meta_same_shape(&grads[0]->meta, &x->meta) && meta_same_shape(&grads[1]->meta, &w->meta));
    Value all[] = {value_tensor(x), value_tensor(w), value_tensor(g), y, value_tensor(grads[0]), value_tensor(grads[1])};
    for (int i = 0; i < 6; i++) value_unref(vm, all[i]);
    trace_close(t);
}
END_TEST

START_TEST(composites_are_code_or_one_node) {
    Trace *t = trace_open("import torch\nimport torch.nn.functional as F\ndef f(x):\n    return F.softmax(x, -1)\n");
    VM *vm = t->script->vm;
    Value x = value_tensor(trace_input(t, "x", 2, (Dim[]){3, 4})), y = trace_call(t, "f", &x, 1);
    ck_assert_str_eq(calls_of(t), "_softmax");
    const Op *matmul = op_find(t->script->ops, "matmul");
    Arg args[] = {arg_of_tensor((Tensor *)x.o), arg_of_tensor((Tensor *)y.o)};
    Value wrong = trace_op(vm, matmul, args, 2);
    ck_assert(value_is_error(wrong)); /* (3, 4) @ (3, 4): the body's own error */
    vm_clear_exception(vm);
    const Op *flatten = op_find(t->script->ops, "flatten");
    Arg one[] = {arg_of_tensor((Tensor *)x.o), arg_int(0), arg_int(-1)};
    Value flat = trace_op(vm, flatten, one, 3);
    ck_assert_str_eq(calls_of(t), "_softmax flatten");
    ck_assert_int_eq(((Tensor *)flat.o)->meta.sizes[0], 12);
    ck_assert_ptr_eq(((Tensor *)flat.o)->storage, ((Tensor *)x.o)->storage); /* flatten of a contiguous tensor is a view, here as in eager work */
    value_unref(vm, flat);
    value_unref(vm, x);
    value_unref(vm, y);
    trace_close(t);
}
END_TEST

START_TEST(views_and_inplace_share_storage) {
    Trace *t = trace_open("import torch\ndef f(x):\n    y = x * 1\n    v = y[0]\n    v.add_(1)\n    return y, v, y.t()\n");
    VM *vm = t->script->vm;
    Value x = value_tensor(trace_input(t, "x", 2, (Dim[]){3, 4})), made = trace_call(t, "f", &x, 1);
    Tensor *y = (Tensor *)((Tuple *)made.o)->items[0].o, *v = (Tensor *)((Tuple *)made.o)->items[1].o, *z = (Tensor *)((Tuple *)made.o)->items[2].o;
    ck_assert_str_eq(calls_of(t), "mul select add_ t");
    ck_assert(y->storage == v->storage && y->storage == z->storage && y->storage->version == 1);
    value_unref(vm, made);
    value_unref(vm, x);
    trace_close(t);
}
END_TEST

START_TEST(sizes_stay_symbolic) {
    Trace *t = trace_open("import torch\ndef f(x):\n    n = x.shape[0]\n    half = n // 2 + 1\n    return x.reshape(n * 4), half, n == 7, max(n, 2), x.numel()\n");
    VM *vm = t->script->vm;
    Dim s = sym_var(t->syms, "s0", 2, 1 << 20, SYM_SIZE);
    ((Sym *)(uintptr_t)dim_sym(s))->hint = 7;
    Value x = value_tensor(trace_input(t, "x", 2, (Dim[]){s, 4})), made = trace_call(t, "f", &x, 1);
    Value *items = ((Tuple *)made.o)->items;
    ck_assert_str_eq(calls_of(t), "view");
    ck_assert(!dim_is_int(((Tensor *)items[0].o)->meta.sizes[0]));
    ck_assert(value_is(items[1], OBJ_SYM));
    Text text = {0};
    dim_print(&text, ((SymObject *)items[1].o)->dim);
    ck_assert_str_eq(text_cstr(&text), "s0//2 + 1");
    text_free(&text);
    ck_assert(items[2].tag == V_BOOL && items[2].b);
    ck_assert(value_is(items[3], OBJ_SYM) && ((SymObject *)items[3].o)->dim == s); /* its range decides */
    ck_assert(items[4].tag == V_INT && items[4].i == 28); /* n == 7 was asked and is taken for granted since */
    ck_assert(assumption_count(t->syms) == 1 && assumption_at(t->syms, 0)->absorbed);
    value_unref(vm, made);
    value_unref(vm, x);
    trace_close(t);
}
END_TEST

START_TEST(real_tensors_are_constants) {
    Trace *t = trace_open("import torch\nc = torch.ones(4)\ndef f(x):\n    return x + c + c\n");
    VM *vm = t->script->vm;
    Value x = value_tensor(trace_input(t, "x", 2, (Dim[]){3, 4})), made = trace_call(t, "f", &x, 1);
    int constants = 0;
    for (int i = 0; i < t->graph->nodes.count; i++) constants += t->graph->nodes.at[i]->kind == NODE_CONSTANT;
    ck_assert_int_eq(constants, 1);
    value_unref(vm, made);
    value_unref(vm, x);
    trace_close(t);
}
END_TEST

int main(void) {
    const TTest *tests[] = {ops_become_nodes, backward_is_traced, composites_are_code_or_one_node, views_and_inplace_share_storage, sizes_stay_symbolic, real_tensors_are_constants};
    return UNIT_RUN("tracing", tests, NULL, NULL);
}
