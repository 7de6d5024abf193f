/* gen-eager: prints engine/op/eager_kernels.c: a loop for each pointwise row, variant and type. Run while vitrine is built.
 *
 *     void eager_lt_f32(int64_t n, void *out, const void *const *in, const EagerNumber *numbers) {
 *         _Bool *to = out; const float *a0 = in[0]; const float *a1 = in[1];
 *         LOOP for (int64_t i = 0; i < n; i++) to[i] = (a0[i] < a1[i]);
 *     }
 *
 * A loop of a narrow integer type computes in 64 bits between loads and stores of its type, so that it means what the 64-bit loop means; the C
 * compiler finds that sums, products, comparisons and choices need no more than the type's width, and uses lanes of it. Quotients of operands have
 * functions of their own width (vmath_lanes.h).
 *
 * `gen-eager --list` prints docs/ops.md instead.
 * Invariant: lines of the table stand in the order of op_table_new's numbering. */
#include "op/eager.h"
#include "op/op.h"
#include "op/scalar_row.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This program links the table and its families, but not the loops it prints. */
const EagerLevel *eager_level(void) { return NULL; }

static const struct { DType type; const char *suffix; } kinds[EAGER_TYPES] = {
    [EAGER_F32] = {DTYPE_F32, "f32"}, [EAGER_F64] = {DTYPE_F64, "f64"}, [EAGER_I64] = {DTYPE_I64, "i64"}, [EAGER_BOOL] = {DTYPE_BOOL, "bool"},
    [EAGER_I32] = {DTYPE_I32, "i32"}, [EAGER_I16] = {DTYPE_I16, "i16"}, [EAGER_I8] = {DTYPE_I8, "i8"}, [EAGER_U8] = {DTYPE_U8, "u8"},
};

typedef struct Printer { Arena *arena; Text text; DType types[32]; DType compute, stored; int operands, temporaries; } Printer;

static const char *print_value(Printer *p, const ScalarExpr *e, DType wanted);

/* One statement for each primitive, so that a shared operand in a text is evaluated once. */
static const char *name_of(Printer *p, DType type, const Text *value, bool chosen) {
    const char *name = arena_printf(p->arena, "t%d", p->temporaries++);
    bool narrow = chosen && type == DTYPE_BOOL; /* gcc does not vectorize a choice of _Bool */
    text_line(&p->text, "%s %s = %s;", narrow ? "int" : scalar_type_name(TARGET_C, type), name, text_cstr(value));
    return name;
}

/* Are the operands values of the type itself? */
static bool of_operands(const Printer *p, const ScalarExpr *e) {
    for (int i = 0; i < prim_info[e->prim].arity; i++)
        if (e->args[i]->kind != SCALAR_INPUT || e->args[i]->input >= p->operands) return false;
    return true;
}

static const char *print_prim(Printer *p, const ScalarExpr *e) {
    const char *operands[3] = {0};
    DType operand_type = scalar_operand_type(e, p->types);
    for (int i = 0; i < prim_info[e->prim].arity; i++)
        operands[i] = print_value(p, e->args[i], e->prim == PRIM_WHERE && i == 0 ? DTYPE_BOOL : operand_type);
    Text value = {0};
    bool narrow = operand_type == DTYPE_I64 && of_operands(p, e) && prim_print_narrow(&value, e->prim, p->stored, operands);
    if (!narrow) prim_print(&value, TARGET_C, e->prim, operand_type, operands);
    const char *name = name_of(p, scalar_type(e, p->types), &value, e->prim == PRIM_WHERE);
    text_free(&value);
    return name;
}

static const char *print_input(Printer *p, int input) { return arena_printf(p->arena, "v%d", input); }

static const char *print_const(Printer *p, const ScalarExpr *e, DType wanted) {
    Text value = {0};
    scalar_const_print(&value, TARGET_C, wanted, e->value, e->is_integer ? e->integer : (int64_t)e->value);
    const char *name = text_in(&value, p->arena);
    text_free(&value);
    return name;
}

static const char *print_value(Printer *p, const ScalarExpr *e, DType wanted) {
    if (e->kind == SCALAR_CONST) return print_const(p, e, wanted);
    const char *value = e->kind == SCALAR_INPUT ? print_input(p, e->input) : e->kind == SCALAR_CAST ? print_value(p, e->args[0], scalar_type(e->args[0], p->types)) : print_prim(p, e);
    DType from = e->kind == SCALAR_CAST ? scalar_type(e->args[0], p->types) : scalar_type(e, p->types);
    if (from == wanted) return value;
    Text cast = {0};
    scalar_cast_print(&cast, TARGET_C, from, wanted, value);
    const char *name = name_of(p, wanted, &cast, false);
    text_free(&cast);
    return name;
}

static DType result_type(const Printer *p, const ScalarExpr *e) { return e->kind == SCALAR_CONST ? p->compute : scalar_type(e, p->types); }

/* gcc widens no _Bool that it loads. */
static const char *memory_type(const Printer *p, DType type) { return type == DTYPE_BOOL ? "unsigned char" : dtype_info[type == p->compute ? p->stored : type].c_type; }

/* Operands are arrays; other inputs are numbers, loaded before the loop. */
static void print_inputs(Printer *p, const Op *op, const bool *used, bool arrays) {
    for (int i = 0; i < op->nparams + 2; i++) {
        if (!used[i] || (i < op->tensor_inputs) != arrays) continue;
        const char *type = scalar_type_name(TARGET_C, p->types[i]);
        if (arrays) text_line(&p->text, "const %s *a%d = in[%d];", memory_type(p, p->types[i]), i, i);
        else if (p->types[i] == DTYPE_F32 || p->types[i] == DTYPE_F64) text_line(&p->text, "const %s v%d = (%s)numbers[%d].f;", type, i, type, i);
        else text_line(&p->text, "const %s v%d = numbers[%d].i%s;", type, i, i, p->types[i] == DTYPE_BOOL ? " != 0" : "");
    }
}

static void print_loop(Printer *p, const Op *op, const ScalarVariant *variant, const char *name) {
    bool used[32] = {0};
    scalar_row_uses(variant->expr, used);
    DType result = result_type(p, variant->expr);
    text_line(&p->text, "static void %s(int64_t n, void *out, const void *const *in, const EagerNumber *numbers) { /* %s */", name, variant->text);
    text_indent(&p->text, 4);
    text_line(&p->text, "(void)in, (void)numbers;");
    text_line(&p->text, "%s *to = out;", result == DTYPE_BOOL ? scalar_type_name(TARGET_C, result) : memory_type(p, result));
    print_inputs(p, op, used, true);
    print_inputs(p, op, used, false);
    text_line(&p->text, "LOOP");
    text_line(&p->text, "for (int64_t i = 0; i < n; i++) {");
    text_indent(&p->text, 4);
    for (int i = 0; i < op->tensor_inputs; i++)
        if (used[i]) text_line(&p->text, "const %s v%d = a%d[i];", p->types[i] == DTYPE_BOOL ? "int" : scalar_type_name(TARGET_C, p->types[i]), i, i);
    const char *value = print_value(p, variant->expr, result);
    text_line(&p->text, "to[i] = %s;", value);
    text_indent(&p->text, -4);
    text_line(&p->text, "}");
    text_indent(&p->text, -4);
    text_line(&p->text, "}\n");
}

/* false: there is no loop for the type. */
static bool set_types(Printer *p, const Op *op, const ScalarVariant *variant, int kind) {
    p->stored = kinds[kind].type;
    p->compute = dtype_info[p->stored].compute;
    p->operands = op->tensor_inputs;
    p->temporaries = 0;
    for (int i = 0; i < op->nparams + 2; i++) p->types[i] = i == op->bool_operand ? DTYPE_BOOL : p->compute;
    return scalar_row_defined(op, variant, p->compute);
}

/* A loop writes bool, a compute type, or its narrow type in the place of int64. */
static DType written_type(const Printer *p, const ScalarExpr *e) {
    DType type = result_type(p, e);
    return type == p->compute ? p->stored : type;
}

/* The table's line of a variant; its loops go to p->text. */
static void print_variant(Printer *p, const Op *op, int v, Text *table) {
    static const char *const type_ids[DTYPE_COUNT] = {
#define DTYPE(id, ...) "DTYPE_" #id,
#include "ir/dtype.def"
#undef DTYPE
    };
    text_put(table, "    {");
    for (int t = 0; t < EAGER_TYPES; t++) {
        if (!set_types(p, op, &op->variants[v], t)) {
            text_put(table, "{0, DTYPE_NONE}, ");
            continue;
        }
        const char *name = arena_printf(p->arena, "eager_%s_%d_%s", op->name, v, kinds[t].suffix);
        print_loop(p, op, &op->variants[v], name);
        text_printf(table, "{%s, %s}, ", name, type_ids[written_type(p, op->variants[v].expr)]);
    }
    text_put(table, "},\n");
}

static const char preamble[] =
    "/* Made by gen-eager from ops.def. Compiled once for each level of processor: EAGER_SUFFIX names it. */\n"
    "#pragma GCC diagnostic ignored \"-Wconversion\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#include \"op/eager.h\"\n"
    "#include \"op/eager_rows.h\"\n"
    "#include \"op/vmath_lanes.h\"\n"
    "#if defined __GNUC__ && !defined __clang__\n#define LOOP _Pragma(\"GCC ivdep\")\n#else\n#define LOOP\n#endif\n\n";

/* vmath_lanes.h compiles what is named before it. */
static void print_uses(void) {
    static const char *const functions[] = {"truncdiv_i64", "fmod_i64", "floordiv_i64", "mod_i64", "gcd_i64", "fmod_f32", "mod_f32", "floordiv_f32", "fmod_f64", "mod_f64",
        "floordiv_f64", "sin_f32", "cos_f32", "tan_f32", "sin_f64", "cos_f64", "pow_f64"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) printf("#define USES_v_%s\n", functions[i]);
}

/* gen-eager --list: the table as a page of docs (docs/ops.md). */
static void print_list(const OpTable *ops) {
    printf("# Ops\n\nMade by `gen-eager --list` from `engine/op/ops.def`; `:op NAME` shows a row with its gradient and its C and CUDA text.\n");
    for (Family family = FAMILY_POINTWISE; family <= FAMILY_DECOMPOSED; family++) {
        printf("\n## %s\n\n| op | signature | meaning |\n|---|---|---|\n", family_name(family));
        for (int i = 0; i < op_count(ops); i++) {
            const Op *op = op_at(ops, i);
            const char *meaning = op->scalar ? op->scalar : op->made_of ? op->made_of : op->functional ? op->functional : op->shared ? op->shared : "";
            if (op->family != family) continue;
            printf("| %s | `%s` | `", op->name, op->signature_text);
            for (const char *c = op->family == FAMILY_MUTATE ? op->functional : meaning; *c; c++) printf(*c == '|' ? "\\|" : "%c", *c);
            printf("` |\n");
        }
    }
}

int main(int argc, char **argv) {
    Arena *arena = arena_new("gen-eager");
    Failure failure = {0};
    LangSession lang = {.arena = arena, .names = interner_new(arena), .failure = &failure};
    OpTable *ops = op_table_new(arena, &lang);
    Printer p = {.arena = arena};
    Text table = {0};
    if (argc > 1 && strcmp(argv[1], "--list") == 0) return print_list(ops), 0;
    for (int i = 0; i < op_count(ops); i++) {
        const Op *op = op_at(ops, i);
        for (int v = 0; op->family == FAMILY_POINTWISE && v < op->variant_count; v++) print_variant(&p, op, v, &table);
    }
    print_uses();
    printf("%s%sextern const EagerKernel OF_LEVEL(eager_kernels, EAGER_SUFFIX)[][EAGER_TYPES];\n", preamble, text_cstr(&p.text));
    printf("const EagerKernel OF_LEVEL(eager_kernels, EAGER_SUFFIX)[][EAGER_TYPES] = {\n%s};\n", text_cstr(&table));
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
