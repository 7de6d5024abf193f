/* Rewritten code of symbolic ints: a value s0//2 + 1 that leaves the frame is computed anew from the inputs' sizes, and ints go along to the graph.
 *
 *     s0//2 + 1   ->   L['x'].shape[0] // 2 + 1
 *
 * Invariant: only what the guards have looked at is read. */
#include "dynamo/rewrite.h"
#include "dynamo/shapes.h"
#include "dynamo/unbacked.h"

static const ShapeBinding *binding_of(const Rewrite *r, Dim var) {
    const Entry *entry = r->capture->entry;
    for (int i = 0; i < entry->bindings.count; i++)
        if (entry->bindings.at[i].defines && entry->bindings.at[i].dim == var) return &entry->bindings.at[i];
    return NULL;
}

static void emit_place(Rewrite *r, const SizeSource *at) {
    if (at->property == STRIDE_OF) emit(r, OPCODE_PUSH_NULL, 0);
    emit_source(r, at->source);
    if (at->property == VALUE_OF) return;
    emit_load_attr(r, at->property == SIZE_OF ? "shape" : "stride");
    if (at->property == STRIDE_OF) emit(r, OPCODE_CALL, 0);
    emit_subscript(r, value_int(at->dim));
}

static void emit_operation(Rewrite *r, const Sym *sym, int operation) {
    emit_sym(r, sym->args[0]);
    for (int i = 1; i < sym->count; i++) {
        emit_sym(r, sym->args[i]);
        emit(r, OPCODE_BINARY_OP, operation);
    }
}

static void emit_relation(Rewrite *r, const Sym *sym, CompareOp op) {
    for (int i = 0; i < 2; i++) emit_sym(r, sym->args[i]);
    emit(r, OPCODE_COMPARE_OP, (int)op << 4);
}

static void emit_extreme(Rewrite *r, const Sym *sym, const char *name) {
    Value function = dict_get_name(r->vm, r->vm->builtins, rewrite_intern(r, name));
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, function);
    for (int i = 0; i < sym->count; i++) emit_sym(r, sym->args[i]);
    emit(r, OPCODE_CALL, sym->count);
}

void emit_sym(Rewrite *r, Dim dim) {
    if (dim_is_int(dim)) {
        emit_plain(r, value_int(dim));
        return;
    }
    const Sym *sym = dim_sym(dim);
    const ShapeBinding *binding;
    r->capture->entry->computes_sizes |= sym->kind != SYM_VAR;
    switch (sym->kind) {
    case SYM_VAR:
        binding = binding_of(r, dim);
        if (sym->var_kind == SYM_UNBACKED) emit_unbacked(r, dim);
        else if (binding) emit_place(r, &binding->at);
        else r->failed = true;
        break;
    case SYM_ADD: emit_operation(r, sym, BINARY_ADD); break;
    case SYM_MUL: emit_operation(r, sym, BINARY_MULTIPLY); break;
    case SYM_FLOORDIV: emit_operation(r, sym, BINARY_FLOOR_DIVIDE); break;
    case SYM_MOD: emit_operation(r, sym, BINARY_REMAINDER); break;
    case SYM_MIN: emit_extreme(r, sym, "min"); break;
    case SYM_MAX: emit_extreme(r, sym, "max"); break;
    case SYM_EQ: emit_relation(r, sym, COMPARE_EQ); break;
    case SYM_NE: emit_relation(r, sym, COMPARE_NE); break;
    case SYM_LT: emit_relation(r, sym, COMPARE_LT); break;
    case SYM_LE: emit_relation(r, sym, COMPARE_LE); break;
    default: r->failed = true;
    }
}

int emit_size_arguments(Rewrite *r) {
    const Entry *entry = r->capture->entry;
    int count = 0;
    for (int i = 0; i < entry->bindings.count; i++) {
        if (entry->bindings.at[i].at.property != VALUE_OF) continue;
        emit_source(r, entry->bindings.at[i].at.source);
        count++;
    }
    return count;
}
