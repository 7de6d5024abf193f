/* Formulas of op rows: split at `;`, compiled as expressions over the row's parameters, and read for what they use.
 *
 *     "g * other; g * input"  ->  two functions (input, other, g, y, needs); the first uses `other`, the second `input`
 *
 * What a formula uses decides what the tape saves: a parameter of which only `.shape` or `.dtype` is read is saved without its data.
 * Invariant: a row's formulas are compiled at most once a session and live in its arena. */
#include "vm/formula.h"
#include "lang/bytecode.h"
#include "vm/tensor_method.h"
#include "vm/torch_state.h"
#include "vm/tracing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the namespace ---- */

static Dict *make_namespace(VM *vm) {
    Value dict = dict_new(vm);
    Interner *names = vm->lang->names;
    for (int i = 0; i < vm->torch->row_count; i++) {
        const Op *op = op_at(vm->ops, i);
        Value object = op_object_new(vm, op, op->name);
        dict_set_name(vm, (Dict *)dict.o, intern(names, op->name), object);
        value_unref(vm, object);
    }
    dict_set_name(vm, (Dict *)dict.o, intern(names, "inf"), value_float((double)__builtin_inff()));
    dict_set_name(vm, (Dict *)dict.o, intern(names, "nan"), value_float((double)__builtin_nanf("")));
    dict_set_name(vm, (Dict *)dict.o, intern(names, "pi"), value_float(3.14159265358979323846));
    return (Dict *)dict.o;
}

/* Names that a row or a builtin has stay what they are: bool(x) in a formula is Python's. */
static void add_module_functions(VM *vm, Dict *namespace_, Dict *module) {
    int position = 0;
    Value key, value;
    while (dict_next(module, &position, &key, &value))
        if (value_is(value, OBJ_FUNCTION) && value_is(key, OBJ_STR)) {
            const char *name = intern(vm->lang->names, str_text(key));
            if (dict_get_name(vm, namespace_, name).tag == V_NULL && dict_get_name(vm, vm->builtins, name).tag == V_NULL) dict_set_name(vm, namespace_, name, value);
        }
}

static bool add_module(VM *vm, Dict *namespace_, const char *dotted) {
    Value module = vm_import(vm, intern(vm->lang->names, dotted), (Span){0});
    if (value_is_error(module)) return false;
    add_module_functions(vm, namespace_, ((ModuleObject *)module.o)->dict);
    value_unref(vm, module);
    return true;
}

Dict *formula_namespace(VM *vm) {
    TorchState *torch = vm->torch;
    if (torch->formulas) return torch->formulas;
    torch->formulas = make_namespace(vm);
    static const char *const natives[] = {"broadcast_shapes", "is_tensor", "is_grad_enabled"};
    for (size_t i = 0; i < sizeof natives / sizeof *natives; i++) dict_set_name(vm, torch->formulas, intern(vm->lang->names, natives[i]), torch_attribute(vm, natives[i]));
    if (add_module(vm, torch->formulas, "torch.decompositions") && add_module(vm, torch->formulas, "torch.tensor_library")) return torch->formulas;
    return NULL;
}

/* ---- compiling one expression ---- */

typedef struct Compiling { VM *vm; const SourceFile *file; const char *name; const char **params; int nparams; Code *code; } Compiling;
static void compile_expression(void *state) {
    Compiling *c = state;
    c->code = lang_compile_expression(c->vm->lang, c->file, c->name, c->params, c->nparams);
}

/* V_ERROR (exception set) when the row's text is wrong: a bug of ours, but one that must not end the session. */
static Value compile_formula(VM *vm, const Op *op, const char *text, size_t length, const char **params, int nparams) {
    SourceFile *file = source_new(vm->arena, arena_printf(vm->arena, "op/ops.def (%s)", op->name), text, length, 1);
    file->shipped = true;
    Compiling c = {vm, file, intern(vm->lang->names, op->name), params, nparams, NULL};
    Failure failure = {0}, *former = vm->lang->failure;
    vm->lang->failure = &failure;
    bool ok = fail_catch(&failure, compile_expression, &c);
    vm->lang->failure = former;
    if (!ok) return vm_raise(vm, "SyntaxError", "row of op '%s': %s in '%.*s'", op->name, failure.message, (int)length, text);
    Dict *globals = formula_namespace(vm);
    return globals ? function_new(vm, c.code, globals) : VALUE_ERROR;
}

/* ---- what it reads ---- */

static bool reads_meta_only(const Code *code, int at) {
    static const char *const facts[] = {"shape", "dtype", "device", "ndim", "size", "dim", "numel", "stride", "is_contiguous", "is_floating_point",
                                        "storage_offset", "requires_grad", "is_cuda", "layout"};
    if (at + 1 >= code->instr_count) return false;
    const Instr *next = &code->instrs[at + 1];
    if (next->opcode == OPCODE_POP_JUMP_IF_NONE || next->opcode == OPCODE_POP_JUMP_IF_NOT_NONE) return true;
    if (next->opcode == OPCODE_LOAD_CONST && at + 2 < code->instr_count && code->instrs[at + 2].opcode == OPCODE_IS_OP) return true;
    if (next->opcode != OPCODE_LOAD_ATTR) return false;
    const char *name = code->names[next->arg >> 1];
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(name, facts[i]) == 0) return true;
    return false;
}

static void read_uses(Formula *formula, const Code *code, int nparams) {
    for (int i = 0; i < code->instr_count; i++) {
        const Instr *instr = &code->instrs[i];
        bool plain = instr->opcode == OPCODE_LOAD_FAST || instr->opcode == OPCODE_LOAD_FAST_CHECK;
        bool captured = instr->opcode == OPCODE_MAKE_CELL || instr->opcode == OPCODE_LOAD_CLOSURE || instr->opcode == OPCODE_LOAD_DEREF || instr->opcode == OPCODE_LOAD_FAST_AND_CLEAR;
        if ((!plain && !captured) || instr->arg >= nparams) continue;
        uint64_t bit = UINT64_C(1) << instr->arg;
        if (plain && reads_meta_only(code, i)) formula->by_meta |= bit;
        else formula->by_value |= bit;
    }
}

/* ---- splitting ---- */

/* The end of the formula that starts at `at`: a `;` outside of strings, or the end. */
static const char *formula_end(const char *at) {
    for (char quote = 0; *at && (quote || *at != ';'); at++)
        if (quote ? *at == quote : (*at == '\'' || *at == '"')) quote = quote ? 0 : *at;
    return at;
}

static void trim(const char **text, size_t *length) {
    while (*length && strchr(" \t\n", **text)) { (*text)++; (*length)--; }
    while (*length && strchr(" \t\n", (*text)[*length - 1])) (*length)--;
}

typedef struct Piece { const char *text; size_t length, call_length; int pick; } Piece; /* call_length: without the pick */

/* "f(…)[2]" -> pick 2; -1 when the formula is no item of a call. */
static Piece piece_of(const char *start, const char *end) {
    Piece piece = {.text = start, .length = (size_t)(end - start), .pick = -1};
    trim(&piece.text, &piece.length);
    piece.call_length = piece.length;
    const char *last = piece.text + piece.length;
    bool item = piece.length > 4 && last[-1] == ']' && last[-2] >= '0' && last[-2] <= '9' && last[-3] == '[' && last[-4] == ')';
    if (!item) return piece;
    piece.pick = last[-2] - '0';
    piece.call_length -= 3;
    return piece;
}

static bool same_call(const Piece *a, const Piece *b) {
    return a->pick >= 0 && b->pick >= 0 && a->call_length == b->call_length && strncmp(a->text, b->text, a->call_length) == 0;
}

/* A pick is taken apart only when another formula picks from the same call. */
static bool shares_call(const Piece *pieces, int count, int i) {
    for (int k = 0; k < count; k++)
        if (k != i && same_call(&pieces[k], &pieces[i])) return true;
    return false;
}

static bool add_formula(VM *vm, const Op *op, Formulas *f, const Piece *pieces, int i) {
    Formula *formula = &f->at[i];
    *formula = (Formula){.source = i, .pick = -1};
    if (!pieces[i].length) return true;
    bool shared = shares_call(pieces, f->count, i);
    for (int k = 0; shared && k < i; k++)
        if (same_call(&pieces[k], &pieces[i])) {
            *formula = f->at[k];
            formula->pick = pieces[i].pick;
            return true;
        }
    formula->pick = shared ? pieces[i].pick : -1;
    formula->function = compile_formula(vm, op, pieces[i].text, shared ? pieces[i].call_length : pieces[i].length, f->params, f->nparams);
    if (value_is_error(formula->function)) return false;
    read_uses(formula, ((Function *)formula->function.o)->code, f->nparams);
    return true;
}

static bool compile_all(VM *vm, const Op *op, Formulas *f, const char *text) {
    Piece pieces[FORMULA_MAX_PARAMS];
    for (const char *at = text; f->count < FORMULA_MAX_PARAMS;) {
        const char *end = formula_end(at);
        pieces[f->count++] = piece_of(at, end);
        if (!*end) break;
        at = end + 1;
    }
    f->at = ARENA_ARRAY(vm->arena, Formula, f->count);
    for (int i = 0; i < f->count; i++)
        if (!add_formula(vm, op, f, pieces, i)) return false;
    return true;
}

/* ---- rows ---- */

static void add_param(VM *vm, Formulas *f, const char *name) { f->params[f->nparams++] = intern(vm->lang->names, name); }

static Formulas *formulas_new(VM *vm, const Op *op) {
    Formulas *f = ARENA_NEW(vm->arena, Formulas);
    f->params = ARENA_ARRAY(vm->arena, const char *, FORMULA_MAX_PARAMS);
    for (int i = 0; i < op->nparams; i++) add_param(vm, f, op_param(op, i));
    return f;
}

static void add_gradient_params(VM *vm, const Op *op, Formulas *f) {
    f->g = f->nparams;
    f->y = f->g + 1;
    f->needs = f->g + 2;
    f->several = f->g + 3;
    add_param(vm, f, "g");
    add_param(vm, f, "y");
    add_param(vm, f, "needs");
    for (int i = 0; op->outputs > 1 && i < op->outputs; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        add_param(vm, f, name);
        snprintf(name, sizeof name, "y%d", i);
        add_param(vm, f, name);
    }
}

static const char *pytorch_name(const Formulas *f, int i) { return strcmp(f->params[i], "input") == 0 ? "self" : f->params[i]; }

static void order_formulas(VM *vm, Formulas *f) {
    f->order = ARENA_ARRAY(vm->arena, int, f->count + 1);
    for (int i = 0; i < f->count; i++) {
        int at = i;
        for (; at > 0 && strcmp(pytorch_name(f, f->order[at - 1]), pytorch_name(f, i)) > 0; at--) f->order[at] = f->order[at - 1];
        f->order[at] = i;
    }
}

const Formulas *gradient_formulas(VM *vm, const Op *op) {
    Map *known = vm->torch->gradients;
    if (map_has(known, op)) return map_get(known, op);
    if (!op->grad || !*op->grad) return NULL;
    Formulas *f = formulas_new(vm, op);
    add_gradient_params(vm, op, f);
    if (!compile_all(vm, op, f, op->grad)) return NULL;
    order_formulas(vm, f);
    map_put(known, op, f);
    return f;
}

const Formulas *inverse_formula(VM *vm, const Op *op) {
    Map *known = vm->torch->inverses;
    if (map_has(known, op)) return map_get(known, op);
    if (!op->inverse || !*op->inverse) return NULL;
    Formulas *f = formulas_new(vm, op);
    add_param(vm, f, "src");
    if (!compile_all(vm, op, f, op->inverse)) return NULL;
    map_put(known, op, f);
    return f;
}

static Value find_body(VM *vm, const Op *op) {
    if (!op->made_of) return vm_raise(vm, "NotImplementedError", "op '%s' has no body", op->name);
    if (op->made_of[0] != '@') {
        Formulas *f = formulas_new(vm, op);
        return compile_formula(vm, op, op->made_of, strlen(op->made_of), f->params, f->nparams);
    }
    Dict *names = formula_namespace(vm);
    if (!names) return VALUE_ERROR;
    Value module = vm_import(vm, intern(vm->lang->names, "torch.decompositions"), (Span){0});
    if (value_is_error(module)) return VALUE_ERROR;
    Value found = dict_get_name(vm, ((ModuleObject *)module.o)->dict, intern(vm->lang->names, op->made_of + 1));
    value_unref(vm, module);
    if (!value_is(found, OBJ_FUNCTION)) return vm_raise(vm, "NotImplementedError", "torch/decompositions.py has no function '%s'", op->made_of + 1);
    return value_ref(found);
}

Function *op_body(VM *vm, const Op *op) {
    Function *body = map_get(vm->torch->bodies, op);
    if (body) return body;
    Value found = find_body(vm, op);
    if (value_is_error(found)) return NULL;
    map_put(vm->torch->bodies, op, found.o);
    return (Function *)found.o;
}

/* ---- formulas given by text ---- */

typedef struct Named { const char *text; Value function; struct Named *next; } Named;

static Value named_formula(VM *vm, const Op *op, const char *text, const char *const *names, int count) {
    Named *first = map_get(vm->torch->named_formulas, op);
    for (Named *at = first; at; at = at->next)
        if (at->text == text || strcmp(at->text, text) == 0) return at->function;
    const char **params = ARENA_ARRAY(vm->arena, const char *, count + 1);
    for (int i = 0; i < count; i++) params[i] = intern(vm->lang->names, names[i] ? names[i] : op_param(op, i));
    Value function = compile_formula(vm, op, text, strlen(text), params, count);
    if (value_is_error(function)) return function;
    Named *made = ARENA_NEW(vm->arena, Named);
    *made = (Named){text, function, first};
    map_put(vm->torch->named_formulas, op, made);
    return function;
}

Value vm_run_formula(VM *vm, const Op *op, const char *formula, const char *const *names, const Value *values, int count) {
    Value function = named_formula(vm, op, formula, names, count), args[FORMULA_MAX_PARAMS];
    if (value_is_error(function)) return function;
    for (int i = 0; i < count; i++) args[i] = values[i];
    return vm_call(vm, function, args, count, NULL);
}
