/* In-place ops and views on the tape.
 *
 *     v = b[0]; v.mul_(w)      # b's grad_fn becomes CopySlices; v's is made anew from b's when somebody asks for it
 *
 * A view remembers its parent and the op that made it, so that the way from the root of a chain of views can be walked again: forwards to cut
 * a view's piece out of a gradient, backwards (each row's `inverse`) to write it back.
 * Invariant: after an in-place op through any view, every view of the same storage gives the grad_fn that its present value has. */
#include "vm/autograd_record.h"
#include "vm/formula.h"
#include "vm/torch_state.h"

Tensor *tensor_root(Tensor *t) {
    while (t->base) t = t->base;
    return t;
}

void autograd_mark_view(VM *vm, Tensor *view, Tensor *base, const Op *op, const Arg *args, int nargs, enum ViewKind kind) {
    VEC(Value) rest = {0};
    for (int i = 1; i < nargs; i++) vec_push(&rest, value_of_arg(vm, &args[i]));
    view->is_view = true;
    view->base = tensor_of(value_ref(value_tensor(base)));
    view->view_op = op;
    view->view_args = tuple_new(vm, rest.at, rest.count);
    bool inherits = base->base && base->view_kind != VIEW_NONE && base->view_kind != VIEW_NORMAL; /* a view of a view that may not be changed may not either */
    view->view_kind = inherits ? base->view_kind : (uint8_t)kind;
    view->grad_version = view->storage->rebases;
    for (int i = 0; i < rest.count; i++) value_unref(vm, rest.at[i]);
    vec_free(&rest);
}

/* ---- walking a chain of views ---- */

/* The arguments of `view`'s op over `base`; the Args' lists live in arena. */
static int view_arguments(VM *vm, const Tensor *view, Tensor *base, Arg *out, Arena *arena) {
    const Tuple *rest = (const Tuple *)view->view_args.o;
    out[0] = arg_of_tensor(base);
    for (int i = 0; i < rest->count; i++) out[i + 1] = arg_of_value(vm, rest->items[i], arena);
    return rest->count + 1;
}

/* The same view of another tensor, through the domain. Owned; NULL: exception set. */
static Tensor *view_again(VM *vm, const Tensor *view, Tensor *base) {
    Arena *arena = arena_new("view");
    Arg args[FORMULA_MAX_PARAMS];
    int nargs = view_arguments(vm, view, base, args, arena);
    Value made = vm->domain->op(vm, view->view_op, args, nargs);
    arena_free(arena);
    if (value_is_tensor(made)) return tensor_of(made);
    if (!value_is_error(made)) vm_raise(vm, "RuntimeError", "a view made by '%s' cannot be made again", view->view_op->name);
    value_unref(vm, made);
    return NULL;
}

/* `whole` with `piece` written where `view` lies in it. Owned; NULL: exception set. */
static Tensor *write_back(VM *vm, const Tensor *view, Tensor *whole, Tensor *piece) {
    const Formulas *f = inverse_formula(vm, view->view_op);
    if (!f) {
        if (vm->exception.tag == V_NULL) vm_raise(vm, "RuntimeError", "a view made by '%s' cannot be written through", view->view_op->name);
        return NULL;
    }
    Value values[FORMULA_MAX_PARAMS];
    const Tuple *rest = (const Tuple *)view->view_args.o;
    values[0] = value_tensor(whole);
    for (int i = 0; i < rest->count; i++) values[i + 1] = rest->items[i];
    values[f->nparams - 1] = value_tensor(piece);
    Value made = vm_call(vm, f->at[0].function, values, f->nparams, NULL);
    if (value_is_tensor(made)) return tensor_of(made);
    value_unref(vm, made);
    return NULL;
}

static Tensor *keep(Tensor *t) { return tensor_of(value_ref(value_tensor(t))); }
static void drop(VM *vm, Tensor *t) { if (t) value_unref(vm, value_tensor(t)); }

/* The piece of `whole` (shaped like view's root) that `view` is. */
static Tensor *cut_out(VM *vm, Tensor *view, Tensor *whole) {
    if (!view->base) return keep(whole);
    Tensor *parent = cut_out(vm, view->base, whole);
    Tensor *piece = parent ? view_again(vm, view, parent) : NULL;
    drop(vm, parent);
    return piece;
}

/* `whole` with the piece that `view` is replaced. */
static Tensor *put_in(VM *vm, Tensor *view, Tensor *whole, Tensor *piece) {
    if (!view->base) return keep(piece);
    Tensor *parent = cut_out(vm, view->base, whole);
    Tensor *changed = parent ? write_back(vm, view, parent, piece) : NULL;
    Tensor *result = changed ? put_in(vm, view->base, whole, changed) : NULL;
    drop(vm, parent);
    drop(vm, changed);
    return result;
}

/* ---- grad_fn of views ---- */

static bool needs_grad(VM *vm, Tensor *t) { return t->requires_grad || tensor_grad_node(vm, t); }

static void regenerate(VM *vm, Tensor *view) {
    Arena *arena = arena_new("view");
    Arg args[FORMULA_MAX_PARAMS];
    int nargs = view_arguments(vm, view, view->base, args, arena);
    bool former = vm->grad_enabled;
    vm->grad_enabled = true;
    autograd_record(vm, view->view_op, args, nargs, value_tensor(view));
    vm->grad_enabled = former;
    if (view->grad_fn) view->grad_fn->name = "AsStridedBackward0"; /* PyTorch cuts the view out of the changed base so, whatever made it first */
    arena_free(arena);
    view->grad_version = view->storage->rebases;
}

GradNode *tensor_grad_node(VM *vm, Tensor *t) {
    if (t->base && t->view_kind == VIEW_NORMAL && t->grad_version != t->storage->rebases) {
        if (needs_grad(vm, t->base)) regenerate(vm, t);
        else t->grad_version = t->storage->rebases;
    }
    return t->grad_fn;
}

/* ---- may it be changed ---- */

static bool refuse(VM *vm, const char *why) {
    vm_raise(vm, "RuntimeError", "%s", why);
    return false;
}

static bool refuse_view(VM *vm, const Tensor *t) {
    if (t->view_kind == VIEW_NO_GRAD)
        return refuse(vm, "A view was created in no_grad mode and is being modified inplace with grad mode enabled. This view was created inside a no_grad "
                          "block: change it there, or make it with grad mode enabled.");
    vm_raise(vm, "RuntimeError", "Output %d of %s is a view and is being modified inplace. This view is %s. Such views do not allow to be modified inplace; "
             "clone it, or use the out-of-place form.", t->grad_index, t->grad_fn ? t->grad_fn->name : "a function",
             t->view_kind == VIEW_MULTI ? "the output of a function that returns multiple views" : "the output of a custom Function");
    return false;
}

bool autograd_check_inplace(VM *vm, Tensor *t) {
    if (t->storage->inference && !vm->inference)
        return refuse(vm, "Inplace update to inference tensor outside InferenceMode is not allowed: change a clone() of it, or use no_grad instead of inference_mode.");
    if (!vm->grad_enabled) return true;
    bool wanted = needs_grad(vm, t) || (t->base && needs_grad(vm, tensor_root(t)));
    if (!wanted) return true;
    if (t->base && t->view_kind != VIEW_NORMAL) return refuse_view(vm, t);
    if (t->base && tensor_root(t)->requires_grad) return refuse(vm, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    if (t->requires_grad) return refuse(vm, "a leaf Variable that requires grad is being used in an in-place operation.");
    return true;
}

/* ---- after an in-place op ---- */

void autograd_rebase(VM *vm, Tensor *t, GradNode *node, int index) {
    t->requires_grad = false;
    t->storage->rebases++; /* grad_fn of views is made anew when asked for */
    autograd_attach(vm, t, node, index);
}

/* CopySlices: what comes back to the changed root goes to the root as it was, but for the slice, which goes through the op. */
typedef struct Slices { GradNode *inner; Tensor *view; } Slices;

static void release_slices(VM *vm, void *state) {
    Slices *s = state;
    grad_node_unref(vm, s->inner);
    drop(vm, s->view);
    free(s);
}

static Tensor *zeros_like(VM *vm, Tensor *t) {
    Value args[] = {value_tensor(t)};
    return vm_op_tensor(vm, "zeros_like", args, 1);
}

static bool slices_backward(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    Slices *s = node->state;
    Tensor *piece = cut_out(vm, s->view, grads_out[0]);
    if (!piece) return false;
    Tensor **inner = calloc((size_t)s->inner->ninputs + 1, sizeof *inner);
    bool ok = s->inner->backward(vm, s->inner, &piece, inner);
    if (ok && node->edges[0].node) {
        Tensor *back = inner[0] ? keep(inner[0]) : zeros_like(vm, piece);
        grads_in[0] = back ? put_in(vm, s->view, grads_out[0], back) : NULL;
        drop(vm, back);
        ok = grads_in[0] != NULL;
    }
    drop(vm, inner[0]);
    for (int i = 1; i < s->inner->ninputs; i++) grads_in[i] = inner[i];
    free(inner);
    drop(vm, piece);
    return ok;
}

/* The view that CopySlices walks by: its own chain, free of the tape. */
static Tensor *chain_of(VM *vm, Tensor *view) {
    Tensor *copy = tensor_fake(vm, &view->meta, NULL);
    if (!view->base) return copy;
    copy->is_view = true;
    copy->base = chain_of(vm, view->base);
    copy->view_op = view->view_op;
    copy->view_args = value_ref(view->view_args);
    return copy;
}

static void record_slices(VM *vm, Tensor *view, GradNode *inner) {
    Tensor *root = tensor_root(view);
    GradNode *node = autograd_node(vm, "CopySlices", &root, 1, 1, slices_backward);
    GradEdge *edges = heap_zeroed(((size_t)inner->ninputs + 1) * sizeof *edges);
    edges[0] = node->edges[0];
    node->edges = edges;
    node->edges_apart = true;
    for (int i = 1; i < inner->ninputs; i++) {
        node->edges[i] = inner->edges[i];
        if (node->edges[i].node) grad_node_ref(node->edges[i].node);
    }
    if (inner->ninputs > 1) node->ninputs = inner->ninputs;
    Slices *s = calloc(1, sizeof *s);
    *s = (Slices){grad_node_ref(inner), chain_of(vm, view)};
    node->state = s;
    node->release = release_slices;
    autograd_rebase(vm, root, node, 0);
}

/* The gradient of a piece that was copied over goes to its source alone. */
static bool replaced_backward(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    (void)vm;
    if (node->edges[1].node) grads_in[1] = keep(grads_out[0]);
    return true;
}

void autograd_replace(VM *vm, Tensor *t, GradNode *node, int index) {
    if (!t->base) {
        autograd_rebase(vm, t, node, index);
        return;
    }
    Tensor *source = tensor_alias(vm, t);
    autograd_attach(vm, source, node, index);
    GradNode *copy = autograd_node(vm, "CopyBackwards", (Tensor *[]){NULL, source}, 2, 1, replaced_backward);
    record_slices(vm, t, copy);
    grad_node_unref(vm, copy);
    drop(vm, source);
}

/* Does the op, or the tensor's own past, put it on the tape? */
bool autograd_record_inplace(VM *vm, const Op *op, const Arg *args, int nargs, Tensor *self, Tensor *original) {
    if (!dtype_is_float(self->meta.dtype) || !vm->grad_enabled) return true;
    bool wanted = autograd_needed(vm, args, nargs) || (self->base && needs_grad(vm, tensor_root(self)));
    if (!wanted || (op->grad && !*op->grad)) return true;
    GradNode *node = autograd_node_of_op(vm, op, args, nargs, value_tensor(self), original);
    if (!node) return vm->exception.tag == V_NULL;
    if (self->base) record_slices(vm, self, node);
    else autograd_rebase(vm, self, node, 0);
    grad_node_unref(vm, node);
    return true;
}
