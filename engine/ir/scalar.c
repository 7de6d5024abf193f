/* Scalar: parses the meaning of an op row, and finds the type of its value.
 *
 * In: "where(input > 0, input, slope * input)" and the names that may stand in it. Out: a tree of primitives.
 *
 *     const char *names[] = {"input", "slope"}, *error;
 *     const ScalarExpr *e = scalar_parse(arena, text, names, 2, &error);
 *     DType types[] = {DTYPE_F32, DTYPE_F32};
 *     scalar_type(e, types);                                              // DTYPE_F32
 *
 * Grammar: the language's expressions without conditionals: or, and, not, comparisons, | ^ & << >> + - * / // % ** and calls.
 * Invariant: a tree is never changed once made; a SCALAR_CAST holds its target dtype in `integer`.
 * To add a primitive: a row in prim.def. */
#include "ir/scalar.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const PrimInfo prim_info[PRIM_COUNT] = {
#define PRIM(id, spelling, arity, result, flops, ...) [PRIM_##id] = {spelling, arity, result, flops, __VA_ARGS__},
#include "ir/prim.def"
#undef PRIM
};

int prim_find(const char *name) {
    for (int i = 0; i < PRIM_COUNT; i++)
        if (strcmp(prim_info[i].name, name) == 0) return i;
    return -1;
}

typedef struct Parser { Arena *arena; const char *at, *text; const char *const *names; int name_count; const char *error; int depth; } Parser;

static const ScalarExpr *parse_level(Parser *p, int level);

static const ScalarExpr *give_up(Parser *p, const char *what) {
    if (!p->error) p->error = arena_printf(p->arena, "%s at '%s' in '%s'", what, p->at, p->text);
    return NULL;
}

static void skip_blanks(Parser *p) { while (isspace((unsigned char)*p->at)) p->at++; }

/* Takes `token` when it comes next; a word must not go on behind it. */
static bool take(Parser *p, const char *token) {
    skip_blanks(p);
    size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0) return false;
    if (isalpha((unsigned char)token[0]) && (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')) return false;
    p->at += length;
    return true;
}

static const ScalarExpr *make(Parser *p, ScalarExpr value) { return arena_copy(p->arena, &value, sizeof value); }

static const ScalarExpr *make_float(Parser *p, double value) { return make(p, (ScalarExpr){.kind = SCALAR_CONST, .value = value}); }

/* Arithmetic of literals is a literal: it has no type of its own either. */
static const ScalarExpr *fold(Parser *p, int prim, const ScalarExpr *a, const ScalarExpr *b) {
    bool integers = a->is_integer && b->is_integer && prim != PRIM_DIV;
    double value = prim == PRIM_ADD ? a->value + b->value : prim == PRIM_SUB ? a->value - b->value : prim == PRIM_MUL ? a->value * b->value : a->value / b->value;
    return make(p, (ScalarExpr){.kind = SCALAR_CONST, .is_integer = integers, .value = value, .integer = integers ? (int64_t)value : 0});
}

static const ScalarExpr *make_prim(Parser *p, int prim, const ScalarExpr *a, const ScalarExpr *b, const ScalarExpr *c) {
    if (p->error) return NULL;
    bool arithmetic = prim == PRIM_ADD || prim == PRIM_SUB || prim == PRIM_MUL || prim == PRIM_DIV;
    if (arithmetic && a->kind == SCALAR_CONST && b->kind == SCALAR_CONST) return fold(p, prim, a, b);
    return make(p, (ScalarExpr){.kind = SCALAR_PRIM, .prim = (Prim)prim, .args = {a, b, c}});
}

static const ScalarExpr *parse_number(Parser *p) {
    char *end_integer, *end_float;
    long long integer = strtoll(p->at, &end_integer, 10);
    double value = strtod(p->at, &end_float);
    bool is_integer = end_integer >= end_float;
    p->at = is_integer ? end_integer : end_float;
    return make(p, (ScalarExpr){.kind = SCALAR_CONST, .is_integer = is_integer, .value = value, .integer = is_integer ? integer : 0});
}

static DType cast_target(const char *name) {
    static const struct { const char *name; DType dtype; } targets[] = {{"f32", DTYPE_F32}, {"f64", DTYPE_F64}, {"i64", DTYPE_I64}, {"bool", DTYPE_BOOL}};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, name) == 0) return targets[i].dtype;
    return DTYPE_NONE;
}

/* Behind `name(`: the operands of a primitive or of a cast. */
static const ScalarExpr *parse_call(Parser *p, const char *name) {
    const ScalarExpr *args[3] = {0};
    int count = 0, prim = prim_find(name);
    DType target = cast_target(name);
    if (prim < 0 && target == DTYPE_NONE) return give_up(p, arena_printf(p->arena, "no primitive '%s'", name));
    do {
        if (count == 3) return give_up(p, "too many operands");
        args[count++] = parse_level(p, 0);
    } while (take(p, ",") && !p->error);
    if (!p->error && !take(p, ")")) return give_up(p, "expected ')'");
    if (target != DTYPE_NONE) return p->error ? NULL : make(p, (ScalarExpr){.kind = SCALAR_CAST, .integer = target, .args = {args[0]}});
    if (!p->error && count != prim_info[prim].arity) return give_up(p, arena_printf(p->arena, "'%s' takes %d operands", name, prim_info[prim].arity));
    return make_prim(p, prim, args[0], args[1], args[2]);
}

static const ScalarExpr *parse_name(Parser *p) {
    const char *start = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_') p->at++;
    const char *name = arena_strndup(p->arena, start, (size_t)(p->at - start));
    if (take(p, "(")) return parse_call(p, name);
    for (int i = 0; i < p->name_count; i++)
        if (strcmp(p->names[i], name) == 0) return make(p, (ScalarExpr){.kind = SCALAR_INPUT, .input = i});
    if (strcmp(name, "inf") == 0) return make_float(p, INFINITY);
    if (strcmp(name, "nan") == 0) return make_float(p, NAN);
    if (strcmp(name, "pi") == 0) return make_float(p, 3.14159265358979323846);
    p->at = start;
    return give_up(p, "unknown name");
}

static const ScalarExpr *parse_atom(Parser *p) {
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at) || *p->at == '.') return parse_number(p);
    if (isalpha((unsigned char)*p->at) || *p->at == '_') return parse_name(p);
    if (!take(p, "(")) return give_up(p, "expected a value");
    const ScalarExpr *inside = parse_level(p, 0);
    if (!p->error && !take(p, ")")) return give_up(p, "expected ')'");
    return inside;
}

static const ScalarExpr *negate(Parser *p, const ScalarExpr *e) {
    if (!e || e->kind != SCALAR_CONST) return make_prim(p, PRIM_NEG, e, NULL, NULL);
    return make(p, (ScalarExpr){.kind = SCALAR_CONST, .is_integer = e->is_integer, .value = -e->value, .integer = -e->integer});
}

/* Signs and powers: -x ** 2 is -(x ** 2), x ** -2 is fine, as in the language. */
static const ScalarExpr *parse_unary(Parser *p) {
    if (take(p, "-")) return negate(p, parse_unary(p));
    if (take(p, "+")) return parse_unary(p);
    if (take(p, "~")) return make_prim(p, PRIM_BITNOT, parse_unary(p), NULL, NULL);
    const ScalarExpr *base = parse_atom(p);
    if (p->error || !take(p, "**")) return base;
    return make_prim(p, PRIM_POW, base, parse_unary(p), NULL);
}

/* Binary operators from loosest to tightest; within a level longer spellings first. `not` stands between `and` and comparisons. */
static const struct { int level; const char *token; Prim prim; } operators[] = {
    {0, "or", PRIM_OR}, {1, "and", PRIM_AND},
    {3, "==", PRIM_EQ}, {3, "!=", PRIM_NE}, {3, "<=", PRIM_LE}, {3, ">=", PRIM_GE}, {3, "<", PRIM_LT}, {3, ">", PRIM_GT},
    {4, "|", PRIM_BITOR}, {5, "^", PRIM_BITXOR}, {6, "&", PRIM_BITAND}, {7, "<<", PRIM_SHL}, {7, ">>", PRIM_SHR},
    {8, "+", PRIM_ADD}, {8, "-", PRIM_SUB}, {9, "//", PRIM_FLOORDIV}, {9, "*", PRIM_MUL}, {9, "/", PRIM_DIV}, {9, "%", PRIM_MOD},
};
enum { LEVEL_NOT = 2, LEVEL_COMPARE = 3, LEVEL_UNARY = 10 };

static int take_operator(Parser *p, int level) {
    skip_blanks(p);
    if (level == LEVEL_COMPARE && (strncmp(p->at, "<<", 2) == 0 || strncmp(p->at, ">>", 2) == 0)) return -1;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (operators[i].level == level && take(p, operators[i].token)) return (int)operators[i].prim;
    return -1;
}

static const ScalarExpr *parse_level(Parser *p, int level) {
    if (++p->depth > 2000) return give_up(p, "nested too deeply");
    const ScalarExpr *left = NULL;
    if (level == LEVEL_UNARY) left = parse_unary(p);
    else if (level == LEVEL_NOT && take(p, "not")) left = make_prim(p, PRIM_NOT, parse_level(p, LEVEL_NOT), NULL, NULL);
    else left = parse_level(p, level + 1);
    int prim;
    while (level < LEVEL_UNARY && !p->error && (prim = take_operator(p, level)) >= 0) left = make_prim(p, prim, left, parse_level(p, level + 1), NULL);
    p->depth--;
    return p->error ? NULL : left;
}

const ScalarExpr *scalar_parse(Arena *arena, const char *text, const char *const *names, int name_count, const char **error) {
    Parser p = {.arena = arena, .at = text, .text = text, .names = names, .name_count = name_count};
    const ScalarExpr *e = parse_level(&p, 0);
    skip_blanks(&p);
    if (!p.error && *p.at) give_up(&p, "unexpected text");
    if (p.error && error) *error = p.error;
    return p.error ? NULL : e;
}

static int type_rank(DType type) { return type == DTYPE_BOOL ? 0 : type == DTYPE_I64 ? 1 : type == DTYPE_F32 ? 2 : 3; }

/* A literal has no type of its own: DTYPE_NONE for an integer; a float literal asks for a floating type. */
static DType type_or_literal(const ScalarExpr *e, const DType *input_types) {
    if (e->kind == SCALAR_CONST) return DTYPE_NONE;
    return scalar_type(e, input_types);
}

static DType promote_operands(const ScalarExpr *e, const DType *input_types) {
    DType type = DTYPE_NONE;
    bool float_literal = false, integer_literal = false;
    for (int i = e->prim == PRIM_WHERE ? 1 : 0; i < prim_info[e->prim].arity; i++) {
        DType operand = type_or_literal(e->args[i], input_types);
        if (operand == DTYPE_NONE) *(e->args[i]->is_integer ? &integer_literal : &float_literal) = true;
        else if (type == DTYPE_NONE || type_rank(operand) > type_rank(type)) type = operand;
    }
    if (type == DTYPE_NONE) type = float_literal ? DTYPE_F32 : DTYPE_I64;
    if (float_literal && type_rank(type) < 2) return DTYPE_F32;
    return integer_literal && type == DTYPE_BOOL && e->prim != PRIM_WHERE ? DTYPE_I64 : type;
}

DType scalar_operand_type(const ScalarExpr *e, const DType *input_types) {
    DType type = promote_operands(e, input_types);
    return prim_info[e->prim].result == PRIM_FLOATING && type_rank(type) < 2 ? DTYPE_F32 : type;
}

DType scalar_type(const ScalarExpr *e, const DType *input_types) {
    switch (e->kind) {
    case SCALAR_INPUT: return input_types[e->input];
    case SCALAR_CONST: return e->is_integer ? DTYPE_I64 : DTYPE_F32;
    case SCALAR_CAST: return (DType)e->integer;
    case SCALAR_PRIM: break;
    }
    return prim_info[e->prim].result == PRIM_BOOLEAN ? DTYPE_BOOL : scalar_operand_type(e, input_types);
}

bool scalar_defined(const ScalarExpr *e, const DType *input_types) {
    if (e->kind == SCALAR_CAST) return scalar_defined(e->args[0], input_types);
    if (e->kind != SCALAR_PRIM) return true;
    const PrimInfo *info = &prim_info[e->prim];
    DType type = scalar_operand_type(e, input_types);
    const char *text = type == DTYPE_F32 ? info->c_f32 : type == DTYPE_F64 ? info->c_f64 : type == DTYPE_I64 ? info->c_i64 : info->c_bool;
    if (!text) return false;
    for (int i = 0; i < info->arity; i++)
        if (!scalar_defined(e->args[i], input_types)) return false;
    return true;
}
