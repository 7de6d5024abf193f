/* Unit tests of engine/op on symbolic sizes: shape rules give symbolic shapes, or say that they cannot; nothing crashes. */
#include "unit.h"
#include "op_fixture.h"
#include <stdio.h>

static SymTable *syms;
static Dim s0, s1;
static OpContext context;

static void open_symbols(void) {
    fixture_open();
    syms = sym_table_new(fixture_arena);
    s0 = sym_var(syms, "s0", 2, INT64_MAX, SYM_SIZE);
    s1 = sym_var(syms, "s1", 2, INT64_MAX, SYM_SIZE);
    ((Sym *)(uintptr_t)dim_sym(s0))->hint = 6;
    ((Sym *)(uintptr_t)dim_sym(s1))->hint = 9;
    context = fixture_context;
    context.syms = syms;
}

static Arg symbolic(DType dtype, int rank, Dim a, Dim b, Dim c) {
    Meta *meta = ARENA_NEW(fixture_scratch, Meta);
    *meta = (Meta){.dtype = dtype, .rank = rank, .sizes = {a, b, c}};
    meta_set_contiguous(meta, syms);
    return arg_tensor(meta, NULL, NULL);
}

static const char *infer(const char *name, const Arg *given, int count) {
    static char text[512];
    Arg args[20];
    Meta outs[8];
    OpError error = {0};
    const Op *op = op_find(fixture_table, name);
    fixture_defaults(op, args);
    memcpy(args, given, (size_t)count * sizeof *given);
    count = 8;
    if (!op_infer(op, args, op->nparams, outs, &count, &context, &error)) {
        snprintf(text, sizeof text, "%s", error.message);
        return text;
    }
    Text printed = {0};
    for (int i = 0; i < count; i++) {
        if (i) text_char(&printed, ' ');
        meta_print(&printed, &outs[i], true, false);
    }
    snprintf(text, sizeof text, "%s", text_cstr(&printed));
    text_free(&printed);
    return text;
}
#define INFER(name, ...) infer(name, (Arg[]){__VA_ARGS__}, sizeof((Arg[]){__VA_ARGS__}) / sizeof(Arg))
#define INTS(...) ((Arg){.tag = ARG_INTS, .ints = {(Dim[]){__VA_ARGS__}, sizeof((Dim[]){__VA_ARGS__}) / sizeof(Dim)}})

START_TEST(shapes_stay_symbolic) {
    Arg x = symbolic(DTYPE_F32, 2, s0, 3, 0), w = symbolic(DTYPE_F32, 2, 3, 4, 0), b = symbolic(DTYPE_F32, 1, 3, 0, 0);
    ck_assert_str_eq(INFER("relu", x), "f32[s0, 3][3, 1]");
    ck_assert_str_eq(INFER("add", x, b), "f32[s0, 3][3, 1]");
    ck_assert_str_eq(INFER("mul", x, x), "f32[s0, 3][3, 1]");
    ck_assert_str_eq(INFER("sum", x, arg_int(1)), "f32[s0][1]");
    ck_assert_str_eq(INFER("mean", x, arg_int(0), arg_bool(true)), "f32[1, 3][3, 1]");
    ck_assert_str_eq(INFER("max", x, arg_int(0)), "f32[3][1] i64[3][1]");
    ck_assert_str_eq(INFER("mm", x, w), "f32[s0, 4][4, 1]");
    ck_assert_str_eq(INFER("_softmax", x, arg_int(-1), arg_bool(false)), "f32[s0, 3][3, 1]");
    ck_assert_str_eq(INFER("view", x, INTS(-1)), "f32[3*s0][1]");
    ck_assert_str_eq(INFER("view", x, INTS(s0, 1, 3)), "f32[s0, 1, 3][3, 3, 1]");
    ck_assert_str_eq(INFER("expand", b, INTS(s0, 3)), "f32[s0, 3][0, 1]");
    ck_assert_str_eq(INFER("transpose", x, arg_int(0), arg_int(1)), "f32[3, s0][1, 3]");
    ck_assert_str_eq(INFER("unsqueeze", x, arg_int(0)), "f32[1, s0, 3][3*s0, 3, 1]");
    ck_assert_str_eq(INFER("select", x, arg_int(0), arg_int(-1)), "f32[3][1]");
    ck_assert_str_eq(INFER("slice", x, arg_int(0), arg_int(1), arg_none(), arg_int(1)), "f32[s0 - 1, 3][3, 1]");
    ck_assert_str_eq(INFER("full", INTS(s0, 2), arg_int(1)), "i64[s0, 2][2, 1]");
    ck_assert_str_eq(INFER("zeros_like", x), "f32[s0, 3][3, 1]");
    ck_assert_str_eq(INFER("arange", arg_int(s0)), "i64[s0][1]");
    ck_assert_str_eq(INFER("constant_pad_nd", x, INTS(1, 0)), "f32[s0, 4][4, 1]");
    Arg pair[] = {x, symbolic(DTYPE_F32, 2, s1, 3, 0)};
    ck_assert_str_eq(INFER("cat", (Arg){.tag = ARG_TENSORS, .list = {pair, 2}}, arg_int(0)), "f32[s0 + s1, 3][3, 1]");
    ck_assert_str_eq(INFER("embedding", w, symbolic(DTYPE_I64, 1, s0, 0, 0)), "f32[s0, 4][4, 1]");
}
END_TEST

/* Every row with symbolic arguments in all tensor places: a shape or an error, no crash. */
START_TEST(every_row_answers) {
    int answered = 0;
    Dim both[] = {s0, s1};
    for (int i = 0; i < op_count(fixture_table); i++) {
        const Op *op = op_at(fixture_table, i);
        for (int form = 0; form < 8; form++) {
            Arg args[20];
            Meta outs[16];
            int count = 16;
            OpError error = {0};
            fixture_defaults(op, args);
            for (int k = 0; k < op->nparams; k++) {
                if (args[k].tag != ARG_NONE) continue;
                if (k == 0 || (form & 1 && k < 4)) args[k] = symbolic(form & 2 ? DTYPE_I64 : DTYPE_F32, 1 + (form & 2 ? 1 : 0), s0, form & 4 ? s1 : 3, 0);
                else args[k] = form & 4 ? arg_int(1) : (Arg){.tag = ARG_INTS, .ints = {both, 2}};
            }
            if (op_infer(op, args, op->nparams, outs, &count, &context, &error)) answered++;
            else ck_assert_msg(error.message[0], "%s gives no reason", op->name);
        }
    }
    ck_assert_int_gt(answered, 500);
}
END_TEST

/* ---- arguments of any kind ---- */

static uint32_t random_state = 7;
static int pick(int n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (int)((random_state >> 8) % (uint32_t)n);
}

static Arg any_tensor(void) {
    Dim sizes[3];
    for (int i = 0; i < 3; i++) sizes[i] = pick(4);
    return fixture_tensor((DType)pick(DTYPE_COUNT), pick(4), sizes, pick(2), pick(3) == 0, pick(5));
}

static Arg any_argument(void) {
    static const char *const words[] = {"tanh", "floor", "sum", "amax", "mean", "none", ""};
    Dim *ints = arena_alloc(fixture_scratch, 4 * sizeof *ints);
    Arg *tensors = arena_alloc(fixture_scratch, 4 * sizeof *tensors);
    for (int i = 0; i < 4; i++) ints[i] = pick(8) - 3;
    switch (pick(12)) {
    case 0: return arg_none();
    case 1: return arg_bool(pick(2));
    case 2: return arg_float(pick(9) * 0.5 - 2);
    case 3: return (Arg){.tag = ARG_STR, .s = words[pick(7)]};
    case 4: return (Arg){.tag = ARG_DTYPE, .dtype = (DType)pick(DTYPE_COUNT)};
    case 5: return (Arg){.tag = ARG_INTS, .ints = {ints, pick(5)}};
    case 6:
        for (int i = 0; i < 4; i++) tensors[i] = pick(4) ? any_tensor() : arg_none();
        return (Arg){.tag = ARG_TENSORS, .list = {tensors, pick(4)}};
    case 7: case 8: return arg_int(pick(9) - 3);
    default: return any_tensor();
    }
}

static bool small(const Op *op, const Meta *outs, int count) {
    for (int i = 0; i < count; i++)
        for (int d = 0; d < outs[i].rank; d++) ck_assert_msg(outs[i].sizes[d] >= 0 && outs[i].rank <= MAX_RANK, "%s gives a negative size", op->name);
    for (int i = 0; i < count; i++)
        if (meta_numel(&outs[i]) > 100000) return false;
    return true;
}

/* Tensors where the signature wants them come first more often than chance would have it. */
START_TEST(no_arguments_break_a_row) {
    int ran = 0;
    for (int i = 0; i < op_count(fixture_table); i++) {
        const Op *op = op_at(fixture_table, i);
        for (int round = 0; round < 120; round++) {
            Arg args[20], out_args[64];
            Meta outs[64];
            int count = 64;
            OpError error = {0};
            fixture_reset();
            fixture_defaults(op, args);
            for (int k = 0; k < op->nparams; k++)
                if (args[k].tag == ARG_NONE || pick(4) == 0) args[k] = k == 0 && pick(4) ? any_tensor() : any_argument();
            if (!op_infer(op, args, op->nparams, outs, &count, &fixture_context, &error)) {
                ck_assert_msg(error.message[0], "%s gives no reason", op->name);
                continue;
            }
            if (!op->family_ops->run_cpu || !small(op, outs, count)) continue;
            for (int k = 0; k < count; k++) out_args[k] = fixture_output(&outs[k]);
            ran += op_run_cpu(op, args, op->nparams, out_args, count, &fixture_context, &error);
        }
    }
    ck_assert_int_gt(ran, 3000);
}
END_TEST

int main(void) {
    const TTest *tests[] = {shapes_stay_symbolic, every_row_answers, no_arguments_break_a_row};
    return UNIT_RUN("ops on symbolic shapes and odd arguments", tests, open_symbols, fixture_close);
}
