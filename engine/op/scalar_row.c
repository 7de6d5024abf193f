/* Scalar rows: "approximate='tanh': E1; E2" is read into variants with conditions.
 *
 * In: the `scalar` column, the op's parameters. Out: Op.variants; op_scalar() picks one for given arguments.
 *
 *     "min,max: minimum(maximum(input, min), max); min: maximum(input, min); minimum(input, max)"
 *     "rounding_mode='floor': input // other; rounding_mode='trunc': truncdiv(input, other); input / other"
 *     "exponent=2: input * input; input ** exponent"
 *
 * A condition `name` holds when the argument is not None; `name='text'` and `name=number` when it is that Python value.
 * Invariant: the last variant's expression is the row's `expr`. */
#include "op/scalar_row.h"
#include "base/vec.h"
#include "op/family.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 20 };

static _Noreturn void bad_row(const Op *op, const char *why) {
    fprintf(stderr, "ops.def: row '%s': %s\n", op->name, why);
    abort();
}

static char *trimmed(Arena *arena, const char *start, const char *end) {
    while (start < end && *start == ' ') start++;
    while (end > start && end[-1] == ' ') end--;
    return arena_strndup(arena, start, (size_t)(end - start));
}

static ScalarCondition parse_condition(Arena *arena, const Op *op, const char *text) {
    const char *equals = strchr(text, '=');
    const char *name = equals ? trimmed(arena, text, equals) : text;
    ScalarCondition condition = {.param = op_param_index(op, name)};
    if (condition.param < 0) bad_row(op, "a condition names no parameter");
    if (!equals) return condition;
    if (equals[1] == '\'') condition.string = trimmed(arena, equals + 2, text + strlen(text) - 1);
    else condition.is_number = true, condition.number = strtod(equals + 1, NULL);
    return condition;
}

static void parse_conditions(Arena *arena, const Op *op, ScalarVariant *variant, const char *start, const char *end) {
    while (start < end) {
        const char *comma = memchr(start, ',', (size_t)(end - start));
        const char *stop = comma ? comma : end;
        if (variant->condition_count == 3) bad_row(op, "more than three conditions");
        variant->conditions[variant->condition_count++] = parse_condition(arena, op, trimmed(arena, start, stop));
        start = stop + 1;
    }
}

static ScalarVariant parse_variant(Arena *arena, const Op *op, const char *start, const char *end, const char *const *names) {
    ScalarVariant variant = {0};
    const char *colon = memchr(start, ':', (size_t)(end - start)), *error = NULL;
    if (colon) parse_conditions(arena, op, &variant, start, colon);
    variant.text = trimmed(arena, colon ? colon + 1 : start, end);
    variant.expr = scalar_parse(arena, variant.text, names, op->nparams + 2, &error);
    if (!variant.expr) bad_row(op, error);
    return variant;
}

/* `shared`: "bool NAME" (that operand is a condition), "like" (the result is as the first operand). */
static void read_shared(Op *op) {
    if (!op->shared) return;
    op->result_like_first = strstr(op->shared, "like") != NULL;
    if (strncmp(op->shared, "bool ", 5) != 0) return;
    for (int i = 0; i < op->nparams; i++) {
        size_t length = strlen(op_param(op, i));
        if (strncmp(op->shared + 5, op_param(op, i), length) == 0 && strchr(" ", op->shared[5 + length])) op->bool_operand = i;
    }
}

static double cost_of(const ScalarExpr *e) {
    if (e->kind != SCALAR_PRIM && e->kind != SCALAR_CAST) return 0;
    double cost = e->kind == SCALAR_PRIM ? prim_info[e->prim].flops : 1;
    for (int i = 0; i < 3; i++)
        if (e->args[i]) cost += cost_of(e->args[i]);
    return cost;
}

bool scalar_row_promotes(const Op *op, const ScalarVariant *variant) {
    DType types[MAX_PARAMS];
    bool by_word = false;
    if (!op_has(op, TRAIT_FLOAT_RESULT)) return false;
    for (int i = 0; i < variant->condition_count; i++) by_word = by_word || variant->conditions[i].string;
    for (int i = 0; i < op->nparams + 2; i++) types[i] = i == op->bool_operand ? DTYPE_BOOL : DTYPE_I64;
    return !by_word || !scalar_defined(variant->expr, types);
}

bool scalar_row_defined(const Op *op, const ScalarVariant *variant, DType compute) {
    DType types[MAX_PARAMS];
    bool integral = compute == DTYPE_I64 || compute == DTYPE_BOOL;
    if (scalar_row_promotes(op, variant) && integral) return false;
    for (int i = 0; i < op->nparams + 2; i++) types[i] = i == op->bool_operand ? DTYPE_BOOL : compute;
    if (!scalar_defined(variant->expr, types)) return false;
    DType result = variant->expr->kind == SCALAR_CONST ? compute : scalar_type(variant->expr, types);
    return !integral || !dtype_is_float(result);
}

void scalar_row_uses(const ScalarExpr *e, bool *used) {
    if (e->kind == SCALAR_INPUT) used[e->input] = true;
    for (int i = 0; i < 3; i++)
        if (e->args[i]) scalar_row_uses(e->args[i], used);
}

void scalar_row_parse(Arena *arena, Op *op) {
    if (op->family != FAMILY_POINTWISE) return;
    if (!op->scalar) bad_row(op, "a pointwise row needs its scalar meaning");
    if (op->nparams + 2 > MAX_PARAMS) bad_row(op, "too many parameters");
    const char **names = ARENA_ARRAY(arena, const char *, op->nparams + 2);
    for (int i = 0; i < op->nparams; i++) names[i] = op_param(op, i);
    names[op->nparams] = "dtype_max";
    names[op->nparams + 1] = "dtype_min";
    read_shared(op);
    VEC(ScalarVariant) variants = {0};
    for (const char *start = op->scalar; start;) {
        const char *semicolon = strchr(start, ';');
        const char *end = semicolon ? semicolon : start + strlen(start);
        ScalarVariant variant = parse_variant(arena, op, start, end, names);
        vec_push_in(arena, &variants, variant);
        start = semicolon ? semicolon + 1 : NULL;
    }
    op->variants = variants.at;
    op->variant_count = variants.count;
    op->expr = vec_last(&variants).expr;
    if (op->flops == 0) op->flops = cost_of(op->expr);
}

static bool condition_holds(const ScalarCondition *condition, const Arg *args) {
    const Arg *arg = &args[condition->param];
    if (condition->string) return arg->tag == ARG_STR && strcmp(arg->s, condition->string) == 0;
    if (!condition->is_number) return arg->tag != ARG_NONE;
    if (arg->tag == ARG_FLOAT) return arg->f == condition->number;
    return arg->tag == ARG_INT && dim_is_int(arg->i) && (double)arg->i == condition->number;
}

const ScalarVariant *op_scalar(const Op *op, const Arg *args) {
    for (int i = 0; i < op->variant_count; i++) {
        const ScalarVariant *variant = &op->variants[i];
        bool holds = true;
        for (int j = 0; j < variant->condition_count; j++) holds = holds && condition_holds(&variant->conditions[j], args);
        if (holds) return variant;
    }
    return NULL;
}
