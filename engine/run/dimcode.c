/* Dimcode: symbolic sizes of a plan as small postfix programs, so that running needs no symbols.
 *
 * In: a Dim and the variables whose values the caller will give. Out: steps over a stack of integers.
 *
 *     DimCode code;
 *     dimcode_make(arena, n_times_4, &n, 1, &code);
 *     dimcode_run(&code, (int64_t[]){7});        // 28
 *
 * Floor division and modulo are Python's; by zero they give 0 (guards keep it from happening). Invariant: no step needs more than
 * STACK_ROOM values. To add a kind of Sym: a line in step_run. */
#include "run/dimcode.h"
#include "base/vec.h"

enum { STACK_ROOM = 64 };

typedef struct DimStep { SymKind kind; int operands; int64_t value; /* CONST: the value; VAR: the index */ } DimStep;
typedef VEC(DimStep) Steps;

typedef struct Maker { Arena *arena; const Dim *vars; int var_count; Steps steps; int depth; bool deep; } Maker;

static void put_step(Maker *maker, SymKind kind, int operands, int64_t value) {
    DimStep step = {kind, operands, value};
    vec_push_in(maker->arena, &maker->steps, step);
    maker->depth += 1 - operands;
    if (maker->depth > STACK_ROOM) maker->deep = true;
}

static bool put_dim(Maker *maker, Dim d) {
    if (dim_is_int(d)) {
        put_step(maker, SYM_CONST, 0, d);
        return true;
    }
    const Sym *sym = dim_sym(d);
    if (sym->kind == SYM_CONST) {
        put_step(maker, SYM_CONST, 0, sym->value);
        return true;
    }
    if (sym->kind == SYM_VAR) {
        for (int i = 0; i < maker->var_count; i++)
            if (maker->vars[i] == d) {
                put_step(maker, SYM_VAR, 0, i);
                return true;
            }
        return false;
    }
    for (int i = 0; i < sym->count; i++) {
        if (!put_dim(maker, sym->args[i])) return false;
        if (i > 0 && sym->kind != SYM_NOT) put_step(maker, sym->kind, 2, 0);
    }
    if (sym->kind == SYM_NOT) put_step(maker, SYM_NOT, 1, 0);
    return true;
}

bool dimcode_make(Arena *arena, Dim d, const Dim *vars, int var_count, DimCode *code) {
    *code = (DimCode){.constant = d};
    if (dim_is_int(d)) return true;
    Maker maker = {.arena = arena, .vars = vars, .var_count = var_count};
    if (!put_dim(&maker, d) || maker.deep) return false;
    code->steps = maker.steps.at;
    code->count = maker.steps.count;
    return true;
}

static int64_t floor_quotient(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static int64_t step_run(SymKind kind, int64_t a, int64_t b) {
    switch (kind) {
    case SYM_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case SYM_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case SYM_FLOORDIV: return floor_quotient(a, b);
    case SYM_MOD: return b == 0 ? 0 : (int64_t)((uint64_t)a - (uint64_t)floor_quotient(a, b) * (uint64_t)b);
    case SYM_MIN: return a < b ? a : b;
    case SYM_MAX: return a > b ? a : b;
    case SYM_EQ: return a == b;
    case SYM_NE: return a != b;
    case SYM_LT: return a < b;
    case SYM_LE: return a <= b;
    case SYM_AND: return a && b;
    case SYM_OR: return a || b;
    default: return 0;
    }
}

int64_t dimcode_run(const DimCode *code, const int64_t *values) {
    if (code->count == 0) return code->constant;
    int64_t stack[STACK_ROOM];
    int depth = 0;
    for (int i = 0; i < code->count; i++) {
        const DimStep *step = &code->steps[i];
        if (step->kind == SYM_CONST) stack[depth++] = step->value;
        else if (step->kind == SYM_VAR) stack[depth++] = values[step->value];
        else if (step->kind == SYM_NOT) stack[depth - 1] = !stack[depth - 1];
        else {
            stack[depth - 2] = step_run(step->kind, stack[depth - 2], stack[depth - 1]);
            depth--;
        }
    }
    return stack[0];
}

bool metacode_make(Arena *arena, const Meta *meta, const Dim *vars, int var_count, MetaCode *code) {
    *code = (MetaCode){.meta = *meta, .is_static = meta_is_static(meta)};
    if (code->is_static) return true;
    for (int i = 0; i < meta->rank; i++)
        if (!dimcode_make(arena, meta->sizes[i], vars, var_count, &code->sizes[i]) || !dimcode_make(arena, meta->strides[i], vars, var_count, &code->strides[i])) return false;
    return dimcode_make(arena, meta->offset, vars, var_count, &code->offset);
}

void metacode_run(const MetaCode *code, const int64_t *values, Meta *meta) {
    *meta = code->meta;
    if (code->is_static) return;
    for (int i = 0; i < meta->rank; i++) {
        meta->sizes[i] = dimcode_run(&code->sizes[i], values);
        meta->strides[i] = dimcode_run(&code->strides[i], values);
    }
    meta->offset = dimcode_run(&code->offset, values);
}
