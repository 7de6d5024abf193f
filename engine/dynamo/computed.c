/* See computed.h. In: arithmetic of the program on symbolic ints (Domain.arithmetic, Domain.number_call). Out: a float as a tracked value whose source says
 * how it is computed, an int as a symbol whose place says the same.
 *
 *     x * (1 / n)        ->   %mul(%x, %l_1_n_), where l_1_n_ = ___as_tensor(1 / L['x'].shape[0])
 *     int(n * 1.5) + n   ->   s1 + s0, where s1 is int(L['n'] * 1.5)
 *
 * What such a number is compared with is guarded as for any float that changes from call to call; where the program needs it as a plain number, the sizes
 * behind it become constants. The rewritten code computes it in the words of the program; guards compute it with the VM's own arithmetic.
 * To add a function of numbers: a row in the table. */
#include "dynamo/computed.h"
#include "dynamo/numbers.h"
#include "dynamo/shapes.h"
#include "vm/internal.h"
#include <string.h>

static const Computed *computed_of(Value v) {
    if (!value_is(v, OBJ_TRACKED)) return NULL;
    const Source *source = ((Tracked *)v.o)->source;
    return source->kind == SOURCE_COMPUTED ? source->computed : NULL;
}

/* ---- building ---- */

static const Computed *of_dim(Capture *capture, Dim dim) {
    Entry *entry = capture->entry;
    Computed *made = ARENA_NEW(entry->arena, Computed);
    Dim *vars = ARENA_ARRAY(entry->arena, Dim, entry->bindings.count + 1);
    for (int i = 0; i < entry->bindings.count; i++) vars[i] = entry->bindings.at[i].defines ? entry->bindings.at[i].dim : 0;
    *made = (Computed){.kind = COMPUTED_DIM, .dim = dim, .hint = value_int(dim_hint(dim))};
    return dimcode_make(entry->arena, dim, vars, entry->bindings.count, &made->code) ? made : NULL;
}

/* NULL: no number that this file knows. */
static const Computed *operand(Capture *capture, Value v) {
    const Computed *known = computed_of(v);
    if (known) return known;
    if (value_is(v, OBJ_SYM)) return of_dim(capture, ((SymObject *)v.o)->dim);
    if (v.tag != V_INT && v.tag != V_FLOAT && v.tag != V_BOOL) return NULL;
    Computed *made = ARENA_NEW(capture->entry->arena, Computed);
    *made = (Computed){.kind = COMPUTED_NUMBER, .hint = v};
    return made;
}

static void put_text(Text *text, VM *vm, const Computed *computed) {
    Value repr = VALUE_NULL;
    switch (computed->kind) {
    case COMPUTED_DIM: dim_print(text, computed->dim); return;
    case COMPUTED_NUMBER: repr = vm_repr(vm, computed->hint); text_put(text, str_text(repr)); break;
    case COMPUTED_BINARY:
        text_char(text, '(');
        put_text(text, vm, computed->args[0]);
        text_printf(text, " %s ", binary_op_symbol(computed->op));
        put_text(text, vm, computed->args[1]);
        text_char(text, ')');
        break;
    case COMPUTED_CALL:
        text_put(text, value_is(computed->callee, OBJ_CLASS) ? ((Class *)computed->callee.o)->name : ((Builtin *)computed->callee.o)->qualname);
        text_char(text, '(');
        for (int i = 0; i < computed->count; i++) {
            if (i) text_put(text, ", ");
            put_text(text, vm, computed->args[i]);
        }
        text_char(text, ')');
        break;
    }
    value_unref(vm, repr);
}

static const Source *source_of(Capture *capture, const Computed *computed) {
    Text text = {0};
    put_text(&text, capture->vm, computed);
    const char *name = intern(capture->vm->lang->names, text_cstr(&text));
    text_free(&text);
    Source *source = (Source *)(uintptr_t)capture_source(capture, SOURCE_COMPUTED, NULL, name, 0, VALUE_NULL);
    if (!source->computed) source->computed = computed;
    return source;
}

/* ---- as nodes of the graph ---- */

/* In PyTorch's words: torch.sym_int(x), math.floor(x), a ** b. */
static const char *spelled(Arena *arena, const Computed *computed) {
    static const char *const words[][2] = {{"int", "sym_int"}, {"float", "sym_float"}, {"math.trunc", "sym_int"}};
    if (computed->kind == COMPUTED_BINARY) return capture_operator_name(computed->op);
    const char *name = value_is(computed->callee, OBJ_CLASS) ? ((Class *)computed->callee.o)->name : ((Builtin *)computed->callee.o)->qualname;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i][0], name)) return words[i][1];
    bool plain = strncmp(name, "math.", 5) || !strcmp(name, "math.floor") || !strcmp(name, "math.ceil");
    return plain ? (strncmp(name, "math.", 5) ? name : name + 5) : arena_printf(arena, "_sym_%s", name + 5);
}

static Arg operand_of(const Computed *computed) {
    if (computed->kind == COMPUTED_DIM) return arg_int(computed->dim);
    if (computed->kind != COMPUTED_NUMBER && computed->node) return (Arg){.tag = ARG_TENSOR, .tensor = {NULL, NULL, computed->node}};
    Value v = computed->hint;
    return v.tag == V_FLOAT ? arg_float(v.f) : v.tag == V_BOOL ? arg_bool(v.b) : arg_int(v.i);
}

static Node *node_for(Capture *capture, const Computed *computed, Arg value, const char *expression) {
    const char *name = spelled(capture->entry->arena, computed);
    Arg args[2];
    for (int i = 0; i < computed->count; i++) args[i] = operand_of(computed->args[i]);
    if (!name) return NULL;
    Node *node = graph_number(capture->entry->graph, name, args, computed->count, value, vm_user_span(capture->vm));
    node->expression = expression;
    return node;
}

/* An int: a symbol of its own, which the graph is given. */
static Value computed_int(Capture *capture, const Computed *computed) {
    const Source *source = source_of(capture, computed);
    Value symbol = shapes_computed(capture, computed->hint.i, source, arena_printf(capture->entry->arena, "%s follows from symbolic sizes", source->name));
    Dim dim = value_is(symbol, OBJ_SYM) ? ((SymObject *)symbol.o)->dim : 0;
    if (!dim_is_int(dim) && !graph_number_of(capture->entry->graph, dim)) node_for(capture, computed, arg_int(dim), source->name);
    return symbol;
}

static Value computed_float(Capture *capture, const Computed *computed) {
    const Source *source = source_of(capture, computed);
    Computed *first = (Computed *)(uintptr_t)source->computed; /* the same again is the same node */
    if (!first->node) first->node = node_for(capture, first, arg_none(), source->name);
    return capture_track(capture, computed->hint, source);
}

static Value finish(Capture *capture, const Computed *computed) {
    capture->entry->works_on_symbols = true;
    if (value_is_error(computed->hint)) return VALUE_ERROR; /* it raises, as in the program */
    if (computed->hint.tag == V_INT) return computed_int(capture, computed);
    return computed->hint.tag == V_FLOAT ? computed_float(capture, computed) : VALUE_NULL;
}

/* ---- arithmetic ---- */

static bool is_symbolic(Value v) { return value_is(v, OBJ_SYM) || computed_of(v); }

static bool is_number(Value v) {
    if (value_is(v, OBJ_TRACKED)) v = ((Tracked *)v.o)->inner;
    return v.tag == V_INT || v.tag == V_FLOAT || v.tag == V_BOOL || value_is(v, OBJ_SYM);
}

/* An int that was not looked at yet may be symbolic. */
static Value looked_at(VM *vm, Value v) {
    bool is_int = value_is(v, OBJ_TRACKED) && ((Tracked *)v.o)->inner.tag == V_INT && ((Tracked *)v.o)->source->kind != SOURCE_RANDOM;
    return is_int ? vm_force(vm, v) : v;
}

/* n << k and n >> k are products and quotients. */
static Value shifted(VM *vm, int op, Value a, Value b) {
    enum { LARGEST = 40 };
    if (!value_is(a, OBJ_SYM) || b.tag != V_INT || b.i < 0 || b.i > LARGEST) return VALUE_NULL;
    SymTable *syms = vm->context.syms;
    Dim dim = ((SymObject *)a.o)->dim, by = (int64_t)1 << b.i, result = op == BINARY_LSHIFT ? dim_mul(syms, dim, by) : dim_floordiv(syms, dim, by);
    Value operands[] = {a, b};
    capture_of(vm)->entry->works_on_symbols = true;
    capture_number(vm, op == BINARY_LSHIFT ? "lshift" : "rshift", operands, 2, result);
    return sym_new(vm, result);
}

/* Does sym_binary say it as an integer expression? */
static bool is_integer_expression(int op, Value a, Value b) {
    if (a.tag == V_FLOAT || b.tag == V_FLOAT || computed_of(a) || computed_of(b)) return false;
    switch (op) {
    case BINARY_ADD: case BINARY_SUBTRACT: case BINARY_MULTIPLY: case BINARY_FLOOR_DIVIDE: case BINARY_REMAINDER: return true;
    case BINARY_POWER: return b.tag == V_INT && b.i >= 0 && b.i <= 4;
    default: return false;
    }
}

Value capture_arithmetic(VM *vm, int binary_op, Value a, Value b) {
    Capture *capture = capture_of(vm);
    int op = binary_op % BINARY_INPLACE;
    if (!is_number(a) || !is_number(b)) return VALUE_NULL;
    a = looked_at(vm, a), b = looked_at(vm, b);
    if (value_is_error(a) || value_is_error(b)) return VALUE_NULL;
    if ((!is_symbolic(a) && !is_symbolic(b)) || is_integer_expression(op, a, b)) return VALUE_NULL;
    Value simple = op == BINARY_LSHIFT || op == BINARY_RSHIFT ? shifted(vm, op, a, b) : VALUE_NULL;
    if (simple.tag != V_NULL) return simple;
    const Computed *left = operand(capture, a), *right = left ? operand(capture, b) : NULL;
    if (!right) return VALUE_NULL;
    Computed *made = ARENA_NEW(capture->entry->arena, Computed);
    *made = (Computed){.kind = COMPUTED_BINARY, .op = op, .args = {left, right}, .count = 2, .hint = vm_binary(vm, op, left->hint, right->hint)};
    return finish(capture, made);
}

/* ---- functions ---- */

typedef struct NumberFunction { const char *name; bool of_ints; } NumberFunction; /* of_ints: says something new of an int too */
static const NumberFunction number_functions[] = {
    {"int", false}, {"float", true}, {"round", false}, {"abs", false}, {"math.floor", false}, {"math.ceil", false}, {"math.trunc", false}, {"math.sqrt", true}, {"math.exp", true}, {"math.log", true},
    {"math.log2", true}, {"math.log10", true}, {"math.pow", true}, {"math.sin", true}, {"math.cos", true}, {"math.tan", true}, {"math.tanh", true}, {"math.fabs", true},
};

static const NumberFunction *number_function(const Builtin *builtin) {
    for (size_t i = 0; i < sizeof number_functions / sizeof *number_functions; i++)
        if (builtin->qualname && !strcmp(number_functions[i].name, builtin->qualname)) return &number_functions[i];
    return NULL;
}

/* divmod of a symbolic number ends the graph, as in PyTorch. */
static bool ends_graph(VM *vm, const Builtin *builtin) {
    if (!builtin->qualname || strcmp(builtin->qualname, "divmod")) return false;
    vm_stop(vm, "builtin", vm_user_span(vm), "divmod of a symbolic number");
    return true;
}

static Value call_computed(Capture *capture, Value callee, const Value *args, int count) {
    Computed *made = ARENA_NEW(capture->entry->arena, Computed);
    Value hints[2];
    *made = (Computed){.kind = COMPUTED_CALL, .callee = callee, .count = count};
    for (int i = 0; i < count; i++) {
        made->args[i] = operand(capture, args[i]);
        if (!made->args[i]) return VALUE_NULL;
        hints[i] = made->args[i]->hint;
    }
    vec_push_in(capture->entry->arena, &capture->entry->held, value_ref(callee));
    made->hint = vm_call(capture->vm, callee, hints, count, NULL);
    return finish(capture, made);
}

/* args[0] of a class's own builtin is the class. */
Value capture_number_call(VM *vm, Builtin *builtin, Value *args, int nargs, Tuple *kwnames) {
    bool makes = builtin->effects & BUILTIN_NEW, symbolic = false, computed = false;
    int first = makes ? 1 : 0, count = nargs - first;
    if (kwnames || count < 1 || count > 2) return VALUE_NULL;
    Value mine[2];
    for (int i = 0; i < count; i++) {
        bool pending = value_is(args[first + i], OBJ_SYM) || value_is(args[first + i], OBJ_TRACKED);
        if (!pending && i == 0 && count == 1) return VALUE_NULL;
        mine[i] = args[first + i];
    }
    const NumberFunction *function = number_function(builtin);
    bool divides = !function && builtin->qualname && !strcmp(builtin->qualname, "divmod");
    if (!function && !divides) return VALUE_NULL;
    for (int i = 0; i < count; i++) {
        mine[i] = looked_at(vm, mine[i]);
        symbolic |= is_symbolic(mine[i]), computed |= computed_of(mine[i]) != NULL;
    }
    if (!symbolic) return VALUE_NULL;
    if (divides) return ends_graph(vm, builtin) ? VALUE_ERROR : VALUE_NULL;
    if (!computed && !function->of_ints) return VALUE_NULL;
    return call_computed(capture_of(vm), makes ? args[0] : value_object(builtin), mine, count);
}

/* ---- the program needs a plain number ---- */

void computed_specialize(const Computed *computed) {
    if (computed->kind == COMPUTED_DIM) dim_specialize(computed->dim, "Python needs a number that follows from it");
    for (int i = 0; i < computed->count; i++) computed_specialize(computed->args[i]);
}

/* ---- in a call ---- */

Value computed_value(const SourceValues *values, const Computed *computed) {
    VM *vm = values->vm;
    Value args[2] = {VALUE_NULL, VALUE_NULL};
    if (computed->kind == COMPUTED_NUMBER) return computed->hint;
    if (computed->kind == COMPUTED_DIM) return values->slots ? value_int(dimcode_run(&computed->code, values->slots)) : VALUE_NULL;
    for (int i = 0; i < computed->count; i++) {
        args[i] = computed_value(values, computed->args[i]);
        if (args[i].tag == V_NULL) return VALUE_NULL;
    }
    Value result = computed->kind == COMPUTED_BINARY ? vm_binary(vm, computed->op, args[0], args[1]) : vm_call(vm, computed->callee, args, computed->count, NULL);
    if (value_is_error(result)) vm_clear_exception(vm);
    return result.tag == V_INT || result.tag == V_FLOAT ? result : VALUE_NULL;
}

void computed_emit(Rewrite *r, const Computed *computed) {
    r->capture->entry->computes_sizes = true;
    switch (computed->kind) {
    case COMPUTED_DIM: emit_sym(r, computed->dim); return;
    case COMPUTED_NUMBER: emit_plain(r, computed->hint); return;
    case COMPUTED_CALL:
        emit(r, OPCODE_PUSH_NULL, 0);
        emit_held_object(r, computed->callee);
        break;
    case COMPUTED_BINARY: break;
    }
    for (int i = 0; i < computed->count; i++) computed_emit(r, computed->args[i]);
    if (computed->kind == COMPUTED_CALL) emit(r, OPCODE_CALL, computed->count);
    else emit(r, OPCODE_BINARY_OP, computed->op);
}
