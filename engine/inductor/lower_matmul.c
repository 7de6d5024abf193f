/* Lower: contractions that a library runs. In: a CONTRACT node ("mm", "bmm", "addmm", "baddbmm" in its row). Out: a LOOP_MATMUL.
 *
 * Operands go as views where the library takes their layout (a transpose is a flag), else as contiguous copies. What else runs inside the
 * call (bias, residual, activation) choose.c has decided.
 * To add a contraction: its row's `shared` word, and where its operands stand in `forms`. */
#include "inductor/lowering.h"
#include "run/runtime.h"
#include <string.h>

static const MatmulForm forms[] = {{"mm", 0, 1, -1}, {"bmm", 0, 1, -1}, {"addmm", 1, 2, 0}, {"baddbmm", 1, 2, 0}};

const MatmulForm *matmul_form(const Op *op) {
    for (size_t i = 0; op->shared && i < sizeof forms / sizeof *forms; i++)
        if (strcmp(op->shared, forms[i].word) == 0) return &forms[i];
    return NULL;
}

double number_argument(const Node *node, const char *name, double absent) {
    for (int i = 0; i < node->op->signature->count && i < node->nargs; i++) {
        if (strcmp(node->op->signature->names[i], name) != 0) continue;
        const Arg *arg = &node->args[i];
        return arg->tag == ARG_FLOAT ? arg->f : arg->tag == ARG_INT ? (double)dim_hint(arg->i) : arg->tag == ARG_BOOL ? arg->b : absent;
    }
    return absent;
}

/* The library is asked about the sizes seen: symbolic ones by their hints. */
static void hint_meta(Meta *meta) {
    for (int i = 0; i < meta->rank; i++) meta->sizes[i] = dim_hint(meta->sizes[i]), meta->strides[i] = dim_hint(meta->strides[i]);
    meta->offset = dim_hint(meta->offset);
}

bool library_takes(Lowering *lowering, const MatmulCall *call, const char **why) {
    MatmulCall hinted = *call;
    *why = "";
    if (!lowering->c->runtime) return true;
    hint_meta(&hinted.a_meta), hint_meta(&hinted.b_meta), hint_meta(&hinted.out_meta);
    if (call->bias >= 0) hint_meta(&hinted.bias_meta);
    if (call->add >= 0) hint_meta(&hinted.add_meta);
    return matmul_supports(lowering->c->runtime, lowering->l->device, &hinted, why);
}

static int contiguous_operand(Lowering *lowering, const Node *node, Meta *view) {
    Meta layout = node->metas[0];
    layout.offset = 0;
    meta_set_contiguous(&layout, lowering->l->syms);
    *view = layout;
    return copy_to_buffer(lowering, node, &layout);
}

/* One row added to every row of the result: the library's bias. */
bool is_bias_row(const Meta *added, const Meta *out) {
    int last = out->rank - 1;
    if (added->rank == 0 || added->sizes[added->rank - 1] != out->sizes[last] || added->strides[added->rank - 1] != 1 || added->dtype != out->dtype) return false;
    for (int i = 0; i < added->rank - 1; i++)
        if (added->sizes[i] != 1 && added->strides[i] != 0) return false;
    return true;
}

void take_bias(MatmulCall *call, int buffer, const Meta *view, Dim size) {
    call->bias = buffer;
    call->bias_meta = meta_new(view->dtype, view->device, 1, &size);
    call->bias_meta.strides[0] = 1;
    call->bias_meta.offset = view->offset;
    call->epilogue |= EPILOGUE_BIAS;
}

static void note_access(Lowering *lowering, Loop *loop, int buffer, bool is_store) {
    Access access = {buffer, 0, is_store, true};
    if (buffer >= 0) vec_push_in(lowering->arena, &loop->accesses, access);
}

static double matmul_flops(const MatmulCall *call) {
    double flops = 2.0 * (double)dim_hint(call->a_meta.sizes[call->a_meta.rank - 1]);
    for (int i = 0; i < call->out_meta.rank; i++) flops *= (double)dim_hint(call->out_meta.sizes[i]);
    return flops;
}

/* a and b as the library takes them, by copies if need be; false: it takes the product in no way. */
static bool take_operands(Lowering *lowering, const Node *node, const MatmulForm *form, MatmulCall *call) {
    const Node *a = node->args[form->a].tensor.owner, *b = node->args[form->b].tensor.owner;
    const char *why;
    MatmulCall copied = *call;
    copied.a_meta = a->metas[0], copied.b_meta = b->metas[0];
    meta_set_contiguous(&copied.a_meta, lowering->l->syms), meta_set_contiguous(&copied.b_meta, lowering->l->syms);
    copied.a_meta.offset = copied.b_meta.offset = 0;
    copied.bias = copied.add = -1;
    copied.epilogue = EPILOGUE_NONE;
    if (!library_takes(lowering, &copied, &why)) return false;
    call->a = node_view(lowering, a, &call->a_meta);
    call->b = node_view(lowering, b, &call->b_meta);
    MatmulCall plain = *call;
    plain.bias = plain.add = -1;
    plain.epilogue = EPILOGUE_NONE;
    if (library_takes(lowering, &plain, &why)) return true;
    MatmulCall only_a = plain; /* copy the one that is at fault */
    only_a.a_meta = copied.a_meta;
    bool a_alone = library_takes(lowering, &only_a, &why);
    MatmulCall only_b = plain;
    only_b.b_meta = copied.b_meta;
    bool b_alone = library_takes(lowering, &only_b, &why);
    if (a_alone || !b_alone) call->a = contiguous_operand(lowering, a, &call->a_meta);
    if (b_alone ? !a_alone : !a_alone) call->b = contiguous_operand(lowering, b, &call->b_meta);
    return true;
}

void emit_matmul(Lowering *lowering, const Node *node, MatmulCall *call, const Meta *stored, const int *nodes, int node_count) {
    Loop *loop = loop_new(lowering, LOOP_MATMUL, node);
    call->out = buffer_new(lowering, BUFFER_TEMPORARY, stored, NULL, node->id);
    loop->matmul = *call;
    loop->flops = matmul_flops(call);
    note_access(lowering, loop, call->a, false), note_access(lowering, loop, call->b, false);
    note_access(lowering, loop, call->bias, false), note_access(lowering, loop, call->add, false);
    note_access(lowering, loop, call->out, true);
    NodeState all = {.node = node, .nodes = arena_copy(lowering->arena, nodes, sizeof(int) * (size_t)node_count), .node_count = node_count};
    loop_finish(lowering, loop, &all);
    lowering->l->buffers.at[call->out].writer = loop->id;
    Reason *reason = reason_add(&lowering->c->reasons, REASON_EXTERN, "extern.matmul", node_label(lowering, node), NULL, node->span, "%%%s is a call of the library: %.3g GFLOP",
                                node->name, loop->flops * 1e-9);
    reason->policy = lowering->c->policy->name;
}

bool lower_matmul(Lowering *lowering, const Node *node) {
    const MatmulForm *form = matmul_form(node->op);
    if (!form || !dtype_is_float(node->metas[0].dtype)) return false;
    MatmulCall call = {.bias = -1, .add = -1, .alpha = 1, .out = -1, .out_meta = stored_meta(lowering, &node->metas[0])};
    if (form->added >= 0) call.alpha = number_argument(node, "alpha", 1);
    if (!take_operands(lowering, node, form, &call)) return false;
    choose_epilogue(lowering, node, form, &call);
    return true;
}
