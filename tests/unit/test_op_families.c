/* Unit tests of engine/op beyond pointwise: reductions, views, products, indexing, ordering, scans, creation, random streams: eager results against
 * plain loops or known answers, over layouts and dtypes. */
#include "unit.h"
#include "op_fixture.h"
#include <math.h>
#include <stdio.h>

static OpError error;
static Arg results[8];
static int result_count;

/* Runs an op; false with `error`. Missing arguments are defaults. */
static bool run_op(const char *name, const Arg *given, int count) {
    Arg args[20];
    Meta outs[8];
    const Op *op = op_find(fixture_table, name);
    ck_assert_msg(op != NULL, "no row %s", name);
    fixture_defaults(op, args);
    memcpy(args, given, (size_t)count * sizeof *given);
    result_count = 8;
    memset(&error, 0, sizeof error);
    if (!op_infer(op, args, op->nparams, outs, &result_count, &fixture_context, &error)) return false;
    for (int i = 0; i < result_count; i++) {
        if (op->family == FAMILY_VIEW) {
            Meta *meta = arena_copy(fixture_scratch, &outs[i], sizeof outs[i]);
            results[i] = arg_tensor(meta, args[0].tensor.data, NULL);
        } else results[i] = fixture_output(&outs[i]);
    }
    if (op->family == FAMILY_VIEW) return true;
    return op_run_cpu(op, args, op->nparams, results, result_count, &fixture_context, &error);
}

#define RUN(name, ...)                                                                       \
    do {                                                                                     \
        Arg given[] = {__VA_ARGS__};                                                         \
        ck_assert_msg(run_op(name, given, sizeof given / sizeof *given), "%s: %s", name, error.message); \
    } while (0)
#define REFUSES(text, name, ...)                                                             \
    do {                                                                                     \
        Arg given[] = {__VA_ARGS__};                                                         \
        ck_assert_msg(!run_op(name, given, sizeof given / sizeof *given), "%s was not refused", name); \
        ck_assert_msg(strstr(error.message, text) != NULL, "%s: '%s'", name, error.message);      \
    } while (0)
#define INTS(...) ((Arg){.tag = ARG_INTS, .ints = {(Dim[]){__VA_ARGS__}, sizeof((Dim[]){__VA_ARGS__}) / sizeof(Dim)}})
#define VALUES(dtype, ...) fixture_values(dtype, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})
#define NONE arg_none()
#define STRING(text) ((Arg){.tag = ARG_STR, .s = text})

static void expect(const Arg *tensor, const char *meta, int count, const double *values) {
    Text text = {0};
    meta_print(&text, arg_meta(tensor), false, false);
    ck_assert_str_eq(text_cstr(&text), meta);
    text_free(&text);
    int64_t at[MAX_RANK] = {0};
    for (int i = 0; i < count; i++, fixture_step(arg_meta(tensor), at)) {
        double have = fixture_get(tensor, at);
        ck_assert_msg(fabs(have - values[i]) < 1e-4 || (isnan(have) && isnan(values[i])) || have == values[i], "element %d: %g, expected %g", i, have, values[i]);
    }
}
#define EXPECT(which, meta, ...) expect(&results[which], meta, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

/* ---- reductions ---- */

static double reduce_plainly(const char *name, const Arg *input, const int64_t *kept, const bool *marks) {
    const Meta *meta = arg_meta(input);
    int64_t at[MAX_RANK] = {0}, n = 0;
    double total = strcmp(name, "prod") == 0 || strcmp(name, "all") == 0 ? 1 : 0, best = 0;
    for (int64_t left = meta_numel(meta); left > 0; left--, fixture_step(meta, at)) {
        bool here = true;
        for (int i = 0, k = 0; i < meta->rank; i++)
            if (!marks[i]) here = here && at[i] == kept[k++];
        if (!here) continue;
        double x = fixture_get(input, at);
        bool max = strstr(name, "max") != NULL, wins = n == 0 || (!isnan(best) && (isnan(x) || (max ? x > best : x < best)));
        if (strcmp(name, "sum") == 0 || strcmp(name, "mean") == 0) total += x;
        else if (strcmp(name, "prod") == 0) total *= x;
        else if (strcmp(name, "any") == 0) total = total != 0 || x != 0;
        else if (strcmp(name, "all") == 0) total = total != 0 && x != 0;
        else if (wins) best = x, total = strncmp(name, "arg", 3) == 0 ? (double)n : x;
        n++;
    }
    return strcmp(name, "mean") == 0 ? total / (double)n : total;
}

static void check_reduction(const char *name, const Arg *input, unsigned mask, bool keepdim) {
    const Meta *meta = arg_meta(input);
    Dim dims[3];
    bool marks[MAX_RANK] = {0};
    int count = 0;
    for (int i = 0; i < meta->rank; i++)
        if (mask >> i & 1) dims[count++] = i - (i & 1 ? meta->rank : 0), marks[i] = true;
    bool single = strncmp(name, "arg", 3) == 0;
    if (single && count != 1) return;
    Arg dim = single ? arg_int(dims[0]) : (Arg){.tag = ARG_INTS, .ints = {dims, count}};
    RUN(name, *input, dim, arg_bool(keepdim));
    int64_t at[MAX_RANK] = {0}, kept[MAX_RANK];
    double tolerance = arg_meta(&results[0])->dtype == DTYPE_BF16 ? 2e-2 : 1e-5;
    for (int64_t left = meta_numel(arg_meta(&results[0])); left > 0; left--, fixture_step(arg_meta(&results[0]), at)) {
        for (int i = 0, k = 0; i < meta->rank; i++)
            if (!marks[i]) kept[k] = at[keepdim ? i : k], k++;
        double want = reduce_plainly(name, input, kept, marks), have = fixture_get(&results[0], at);
        ck_assert_msg(fabs(have - want) <= tolerance * (1 + fabs(want)) || (isnan(have) && isnan(want)), "%s over %u of %d dims: %g, expected %g", name, mask, meta->rank, have, want);
    }
}

START_TEST(reductions_agree_with_plain_loops) {
    static const char *const names[] = {"sum", "mean", "amax", "amin", "any", "all", "argmax", "argmin", "prod"};
    static const struct { DType dtype; Dim sizes[3]; bool transposed, gaps; } inputs[] = {
        {DTYPE_F32, {3, 4, 5}, false, false}, {DTYPE_F32, {3, 4, 5}, true, false}, {DTYPE_F64, {2, 70, 9}, false, true}, {DTYPE_BF16, {4, 1, 6}, false, false},
        {DTYPE_I64, {3, 4, 5}, true, true}, {DTYPE_I8, {3, 2, 5}, false, false}, {DTYPE_BOOL, {3, 4, 5}, false, false}, {DTYPE_F32, {100, 3, 2}, true, false}};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
            fixture_reset();
            if (strcmp(names[n], "mean") == 0 && !dtype_is_float(inputs[i].dtype)) continue;
            if (strcmp(names[n], "prod") == 0 && i == 2) continue; /* its plain product is not exact enough */
            Arg input = fixture_tensor(inputs[i].dtype, 3, inputs[i].sizes, inputs[i].transposed, inputs[i].gaps, 1);
            for (unsigned mask = 1; mask < 8; mask++) check_reduction(names[n], &input, mask, mask & 1);
        }
}
END_TEST

START_TEST(large_sums_are_exact_and_do_not_depend_on_threads) {
    Arg input = fixture_tensor(DTYPE_F32, 2, (Dim[]){3000, 601}, false, false, 0);
    float *data = input.tensor.data;
    double total = 0;
    for (int i = 0; i < 3000 * 601; i++) total += (double)(data[i] = 1.0f + (float)(i % 7) * 0.1f);
    float by_threads[3][3];
    for (int threads = 1; threads <= 3; threads++) {
        fixture_context.threads = threads;
        RUN("sum", input);
        by_threads[threads - 1][0] = *(float *)results[0].tensor.data;
        RUN("sum", input, arg_int(0));
        by_threads[threads - 1][1] = ((float *)results[0].tensor.data)[600];
        RUN("mean", input, arg_int(1));
        by_threads[threads - 1][2] = ((float *)results[0].tensor.data)[2999];
    }
    ck_assert_msg(fabs((double)by_threads[0][0] - total) / total < 1e-7, "%g, expected %g", (double)by_threads[0][0], total);
    ck_assert_int_eq(memcmp(by_threads[0], by_threads[1], sizeof by_threads[0]), 0);
    ck_assert_int_eq(memcmp(by_threads[0], by_threads[2], sizeof by_threads[0]), 0);
}
END_TEST

START_TEST(extremes_take_nan_and_the_first_of_equals) {
    RUN("max", VALUES(DTYPE_F32, 1, NAN, 3, NAN), arg_int(0));
    EXPECT(0, "f32[]", NAN);
    EXPECT(1, "i64[]", 1);
    RUN("argmin", VALUES(DTYPE_I32, 4, 2, 9, 2));
    EXPECT(0, "i64[]", 1);
    RUN("max", VALUES(DTYPE_F32, 1, 5, 3), VALUES(DTYPE_F32, 4, 2, 3));
    EXPECT(0, "f32[3]", 4, 5, 3);
    RUN("min", VALUES(DTYPE_BOOL, 1, 0, 1));
    EXPECT(0, "b8[]", 0);
    REFUSES("Expected reduction dim", "argmax", fixture_tensor(DTYPE_F32, 2, (Dim[]){0, 3}, false, false, 0), arg_int(0));
    RUN("sum", fixture_tensor(DTYPE_F32, 2, (Dim[]){0, 3}, false, false, 0), arg_int(0));
    EXPECT(0, "f32[3]", 0, 0, 0);
    REFUSES("could not infer output dtype", "mean", VALUES(DTYPE_I64, 1, 2));
    REFUSES("Dimension out of range", "sum", VALUES(DTYPE_I64, 1, 2), arg_int(1));
}
END_TEST

/* ---- views ---- */

START_TEST(views_look_at_the_right_elements) {
    Arg x = fixture_tensor(DTYPE_I64, 2, (Dim[]){3, 4}, false, false, 0);
    for (int64_t i = 0; i < 12; i++) ((int64_t *)x.tensor.data)[i] = i;
    RUN("transpose", x, arg_int(0), arg_int(1));
    EXPECT(0, "i64[4, 3]", 0, 4, 8, 1, 5, 9);
    Arg turned = results[0];
    REFUSES("view size is not compatible", "view", turned, INTS(12));
    RUN("view", x, INTS(2, -1));
    EXPECT(0, "i64[2, 6]", 0, 1, 2, 3, 4, 5, 6);
    REFUSES("is invalid for input of size 12", "view", x, INTS(5, -1));
    RUN("select", x, arg_int(0), arg_int(-1));
    EXPECT(0, "i64[4]", 8, 9, 10, 11);
    RUN("slice", x, arg_int(1), arg_int(-3), arg_int(100), arg_int(2));
    EXPECT(0, "i64[3, 2]", 1, 3, 5, 7, 9, 11);
    RUN("expand", results[0], INTS(2, -1, -1));
    EXPECT(0, "i64[2, 3, 2]", 1, 3, 5, 7, 9, 11, 1);
    RUN("diagonal", x, arg_int(1));
    EXPECT(0, "i64[3]", 1, 6, 11);
    RUN("unfold", x, arg_int(1), arg_int(2), arg_int(2));
    EXPECT(0, "i64[3, 2, 2]", 0, 1, 2, 3, 4, 5);
    RUN("unsqueeze", x, arg_int(-1));
    EXPECT(0, "i64[3, 4, 1]", 0, 1);
    RUN("squeeze", results[0]);
    EXPECT(0, "i64[3, 4]", 0, 1);
    RUN("split", x, arg_int(3), arg_int(1));
    ck_assert_int_eq(result_count, 2);
    EXPECT(1, "i64[3, 1]", 3, 7, 11);
    REFUSES("sum exactly to 4", "split", x, INTS(1, 1), arg_int(1));
    RUN("unbind", x, arg_int(1));
    EXPECT(3, "i64[3]", 3, 7, 11);
    REFUSES("out of range", "select", x, arg_int(0), arg_int(3));
    RUN("permute", x, INTS(-1, 0));
    EXPECT(0, "i64[4, 3]", 0, 4, 8);
    RUN("as_strided", x, INTS(2, 2), INTS(1, 2), arg_int(1));
    EXPECT(0, "i64[2, 2]", 1, 3, 2, 4);
}
END_TEST

/* ---- products ---- */

static void check_product(DType dtype, bool turn_a, bool turn_b, int64_t m, int64_t k, int64_t n) {
    Arg a = fixture_tensor(dtype, 2, (Dim[]){m, k}, turn_a, false, 1), b = fixture_tensor(dtype, 2, (Dim[]){k, n}, turn_b, k == 3, 2), c = fixture_tensor(dtype, 1, (Dim[]){n}, false, false, 3);
    RUN("addmm", c, a, b, arg_int(2), arg_int(3));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double want = 2 * fixture_get(&c, &j), have = fixture_get(&results[0], (int64_t[]){i, j});
            for (int64_t p = 0; p < k; p++) want += 3 * fixture_get(&a, (int64_t[]){i, p}) * fixture_get(&b, (int64_t[]){p, j});
            double tolerance = dtype == DTYPE_BF16 ? 1e-2 : dtype == DTYPE_F16 ? 1e-3 : 1e-5;
            ck_assert_msg(fabs(have - want) <= tolerance * (1 + fabs(want)), "%s %ld %ld: %g, expected %g", dtype_info[dtype].name, (long)i, (long)j, have, want);
        }
}

START_TEST(products_agree_with_plain_loops) {
    static const DType dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16, DTYPE_I64, DTYPE_I16};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int turn = 0; turn < 4; turn++) {
            fixture_reset();
            check_product(dtypes[d], turn & 1, turn & 2, 4, 5, 3);
            check_product(dtypes[d], turn & 1, turn & 2, 1, 3, 7);
            check_product(dtypes[d], turn & 1, turn & 2, 6, 1, 1);
        }
    REFUSES("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", "mm", fixture_tensor(DTYPE_F32, 2, (Dim[]){2, 3}, false, false, 0), fixture_tensor(DTYPE_F32, 2, (Dim[]){2, 3}, false, false, 0));
    RUN("mm", fixture_tensor(DTYPE_F32, 2, (Dim[]){2, 0}, false, false, 0), fixture_tensor(DTYPE_F32, 2, (Dim[]){0, 2}, false, false, 0));
    EXPECT(0, "f32[2, 2]", 0, 0, 0, 0);
    RUN("dot", VALUES(DTYPE_F32, 1, 2, 3), VALUES(DTYPE_F32, 4, 5, 6));
    EXPECT(0, "f32[]", 32);
    RUN("bmm", fixture_tensor(DTYPE_F32, 3, (Dim[]){2, 1, 1}, false, false, 0), fixture_tensor(DTYPE_F32, 3, (Dim[]){2, 1, 1}, false, false, 0));
    EXPECT(0, "f32[2, 1, 1]", 9, 1);
}
END_TEST

/* ---- indexing ---- */

START_TEST(indexing_picks_and_puts) {
    Arg x = fixture_tensor(DTYPE_F32, 2, (Dim[]){3, 4}, false, false, 0);
    for (int64_t i = 0; i < 12; i++) ((float *)x.tensor.data)[i] = (float)i;
    Arg rows = VALUES(DTYPE_I64, 2, 0, -1), columns = VALUES(DTYPE_I64, 1, 1, 3), pair[] = {rows, columns}, second[] = {NONE, columns};
    RUN("index", x, (Arg){.tag = ARG_TENSORS, .list = {pair, 2}});
    EXPECT(0, "f32[3]", 9, 1, 11);
    RUN("index", x, (Arg){.tag = ARG_TENSORS, .list = {second, 2}});
    EXPECT(0, "f32[3, 3]", 1, 1, 3, 5, 5, 7);
    Arg mask = fixture_tensor(DTYPE_BOOL, 2, (Dim[]){3, 4}, false, false, 0);
    for (int64_t i = 0; i < 12; i++) ((bool *)mask.tensor.data)[i] = i % 5 == 0;
    RUN("index", x, (Arg){.tag = ARG_TENSORS, .list = {&mask, 1}});
    EXPECT(0, "f32[3]", 0, 5, 10);
    RUN("masked_select", x, mask);
    EXPECT(0, "f32[3]", 0, 5, 10);
    RUN("nonzero", mask);
    EXPECT(0, "i64[3, 2]", 0, 0, 1, 1, 2, 2);
    RUN("index_put", x, (Arg){.tag = ARG_TENSORS, .list = {pair, 2}}, fixture_tensor(DTYPE_F32, 0, NULL, false, false, 0), arg_bool(true));
    EXPECT(0, "f32[3, 4]", 0, -2, 2, 3, 4, 5, 6, 7, 8, 6, 10, 8);
    RUN("gather", x, arg_int(1), fixture_tensor(DTYPE_I64, 2, (Dim[]){2, 0}, false, false, 0));
    Arg twice = fixture_tensor(DTYPE_I64, 2, (Dim[]){1, 4}, false, false, 0);
    for (int64_t i = 0; i < 4; i++) ((int64_t *)twice.tensor.data)[i] = i % 2;
    RUN("gather", x, arg_int(0), twice);
    EXPECT(0, "f32[1, 4]", 0, 5, 2, 7);
    RUN("scatter_add", x, arg_int(1), twice, x);
    EXPECT(0, "f32[3, 4]", 2, 5, 2, 3, 4);
    RUN("scatter", x, arg_int(0), twice, arg_float(-1));
    EXPECT(0, "f32[3, 4]", -1, 1, -1, 3, 4, -1, 6, -1);
    RUN("scatter_reduce", x, arg_int(1), twice, x, STRING("amax"), arg_bool(false));
    EXPECT(0, "f32[3, 4]", 2, 3, 2, 3);
    REFUSES("out of bounds", "gather", VALUES(DTYPE_F32, 1, 2), arg_int(0), VALUES(DTYPE_I64, 5));
    Arg wrong[] = {VALUES(DTYPE_I64, 7)};
    REFUSES("index 7 is out of bounds for dimension 0 with size 3", "index", x, (Arg){.tag = ARG_TENSORS, .list = {wrong, 1}});
    RUN("index_select", x, arg_int(1), VALUES(DTYPE_I64, 3, 3));
    EXPECT(0, "f32[3, 2]", 3, 3, 7, 7);
    RUN("index_add", x, arg_int(0), VALUES(DTYPE_I64, 1, 1, 1), x, arg_float(2));
    EXPECT(0, "f32[3, 4]", 0, 1, 2, 3, 28, 35, 42, 49);
    RUN("index_fill", x, arg_int(1), VALUES(DTYPE_I64, -1), arg_float(9));
    EXPECT(0, "f32[3, 4]", 0, 1, 2, 9);
    RUN("embedding", x, VALUES(DTYPE_I64, 2, 2, 0));
    EXPECT(0, "f32[3, 4]", 8, 9, 10, 11, 8, 9, 10, 11, 0);
    RUN("embedding_dense_backward", x, VALUES(DTYPE_I64, 1, 0, 1), arg_int(2), arg_int(0), arg_bool(false));
    EXPECT(0, "f32[2, 4]", 0, 0, 0, 0, 8, 10, 12, 14);
}
END_TEST

START_TEST(arrangements_move_every_element) {
    Arg x = fixture_tensor(DTYPE_I64, 2, (Dim[]){2, 3}, false, false, 0);
    for (int64_t i = 0; i < 6; i++) ((int64_t *)x.tensor.data)[i] = i;
    Arg two[] = {x, x};
    RUN("cat", (Arg){.tag = ARG_TENSORS, .list = {two, 2}}, arg_int(1));
    EXPECT(0, "i64[2, 6]", 0, 1, 2, 0, 1, 2, 3);
    RUN("stack", (Arg){.tag = ARG_TENSORS, .list = {two, 2}}, arg_int(-1));
    EXPECT(0, "i64[2, 3, 2]", 0, 0, 1, 1, 2, 2, 3);
    RUN("flip", x, INTS(1));
    EXPECT(0, "i64[2, 3]", 2, 1, 0, 5, 4, 3);
    RUN("roll", x, arg_int(1), arg_int(1));
    EXPECT(0, "i64[2, 3]", 2, 0, 1, 5, 3, 4);
    RUN("roll", x, arg_int(-1));
    EXPECT(0, "i64[2, 3]", 1, 2, 3, 4, 5, 0);
    RUN("constant_pad_nd", x, INTS(1, -1, 0, 1), arg_int(7));
    EXPECT(0, "i64[3, 3]", 7, 0, 1, 7, 3, 4, 7, 7, 7);
    RUN("repeat", x, INTS(2, 1, 2));
    EXPECT(0, "i64[2, 2, 6]", 0, 1, 2, 0, 1, 2, 3);
    RUN("tril", x, arg_int(-1));
    EXPECT(0, "i64[2, 3]", 0, 0, 0, 3, 0, 0);
    RUN("triu", x, arg_int(1));
    EXPECT(0, "i64[2, 3]", 0, 1, 2, 0, 0, 5);
    RUN("select_scatter", x, VALUES(DTYPE_I64, 8, 9), arg_int(1), arg_int(-1));
    EXPECT(0, "i64[2, 3]", 0, 1, 8, 3, 4, 9);
    RUN("slice_backward", x, INTS(2, 6), arg_int(1), arg_int(0), arg_int(6), arg_int(2));
    EXPECT(0, "i64[2, 6]", 0, 0, 1, 0, 2, 0, 3);
    RUN("diagonal_scatter", x, VALUES(DTYPE_I64, 8, 9));
    EXPECT(0, "i64[2, 3]", 8, 1, 2, 3, 9, 5);
    RUN("diag_embed", VALUES(DTYPE_I64, 8, 9), arg_int(1));
    EXPECT(0, "i64[3, 3]", 0, 8, 0, 0, 0, 9);
    RUN("unfold_backward", fixture_tensor(DTYPE_F32, 2, (Dim[]){3, 2}, false, false, 0), INTS(4), arg_int(0), arg_int(2), arg_int(1));
    REFUSES("Sizes of tensors must match", "cat", (Arg){.tag = ARG_TENSORS, .list = {(Arg[]){x, VALUES(DTYPE_I64, 1)}, 2}}, arg_int(0));
}
END_TEST

START_TEST(ordering_is_stable_and_knows_nan) {
    Arg x = VALUES(DTYPE_F32, 3, 1, NAN, 1, 2);
    RUN("sort", x, arg_int(0));
    EXPECT(0, "f32[5]", 1, 1, 2, 3, NAN);
    EXPECT(1, "i64[5]", 1, 3, 4, 0, 2);
    RUN("sort", x, arg_int(0), arg_bool(true));
    EXPECT(1, "i64[5]", 2, 0, 4, 1, 3);
    RUN("topk", x, arg_int(2));
    EXPECT(1, "i64[2]", 2, 0);
    RUN("kthvalue", VALUES(DTYPE_I64, 5, 3, 4), arg_int(2));
    EXPECT(0, "i64[]", 4);
    RUN("median", VALUES(DTYPE_F32, 4, 1, 3, 2));
    EXPECT(0, "f32[]", 2);
    RUN("searchsorted", VALUES(DTYPE_F32, 1, 3, 5), VALUES(DTYPE_F32, 0, 3, 6));
    EXPECT(0, "i64[3]", 0, 1, 3);
    RUN("bincount", VALUES(DTYPE_I64, 1, 3, 1));
    EXPECT(0, "i64[4]", 0, 2, 0, 1);
    RUN("unique", VALUES(DTYPE_I64, 3, 1, 3), arg_bool(true), arg_bool(true), arg_bool(true));
    EXPECT(0, "i64[2]", 1, 3);
    EXPECT(1, "i64[3]", 1, 0, 1);
    EXPECT(2, "i64[2]", 1, 2);
}
END_TEST

START_TEST(scans_run_along_their_dim) {
    RUN("cumsum", VALUES(DTYPE_I8, 100, 100, 100), arg_int(0));
    EXPECT(0, "i64[3]", 100, 200, 300);
    RUN("cumprod", VALUES(DTYPE_F32, 1, 2, 3), arg_int(-1));
    EXPECT(0, "f32[3]", 1, 2, 6);
    Arg wide = fixture_tensor(DTYPE_I64, 3, (Dim[]){2, 3, 200}, false, true, 0), narrow;
    for (int dim = 0; dim < 3; dim++) {
        RUN("cumsum", wide, arg_int(dim));
        narrow = results[0];
        int64_t at[MAX_RANK] = {0};
        for (int64_t n = 0; n < 1200; n++, fixture_step(arg_meta(&narrow), at)) {
            double before = 0, have = fixture_get(&narrow, at);
            if (at[dim] > 0) at[dim]--, before = fixture_get(&narrow, at), at[dim]++;
            ck_assert(have == before + fixture_get(&wide, at));
        }
    }
    RUN("cummax", VALUES(DTYPE_F32, 1, 3, 2, 3), arg_int(0));
    EXPECT(0, "f32[4]", 1, 3, 3, 3);
    EXPECT(1, "i64[4]", 0, 1, 1, 3);
    RUN("logcumsumexp", VALUES(DTYPE_F64, 0, 0), arg_int(0));
    EXPECT(0, "f64[2]", 0, 0.693147);
}
END_TEST

START_TEST(creation_follows_pytorchs_rules) {
    RUN("arange", arg_int(5));
    EXPECT(0, "i64[5]", 0, 1, 2, 3, 4);
    RUN("arange", arg_float(1), arg_int(2), arg_float(0.25));
    EXPECT(0, "f32[4]", 1, 1.25, 1.5, 1.75);
    RUN("arange", arg_int(5), arg_int(0), arg_int(-2));
    EXPECT(0, "i64[3]", 5, 3, 1);
    RUN("full", INTS(2), arg_bool(true));
    EXPECT(0, "b8[2]", 1, 1);
    RUN("linspace", arg_int(0), arg_int(1), arg_int(5));
    EXPECT(0, "f32[5]", 0, 0.25, 0.5, 0.75, 1);
    RUN("eye", arg_int(2), arg_int(3));
    EXPECT(0, "f32[2, 3]", 1, 0, 0, 0, 1, 0);
    RUN("tril_indices", arg_int(2), arg_int(2));
    EXPECT(0, "i64[2, 3]", 0, 1, 1, 0, 0, 1);
    RUN("zeros_like", fixture_tensor(DTYPE_F16, 2, (Dim[]){2, 3}, true, false, 0));
    ck_assert_int_eq(arg_meta(&results[0])->strides[1], 2);
    REFUSES("inconsistent with step sign", "arange", arg_int(5), arg_int(0));
}
END_TEST

/* ---- random: the numbers of torch.manual_seed(0) on the CPU, as PyTorch 2.11 prints them ---- */

START_TEST(random_streams_are_pytorchs) {
    rng_seed(fixture_context.generator, 0);
    RUN("rand", INTS(4));
    EXPECT(0, "f32[4]", 0.4963, 0.7682, 0.0885, 0.1320);
    RUN("randn", INTS(4));
    EXPECT(0, "f32[4]", -2.1788, 0.5684, -1.0845, -1.3986);
    RUN("randn", INTS(3, 7));
    EXPECT(0, "f32[3, 7]", -0.0885, 0.5239, -0.6659, 0.8504, -1.3527, 0.0316, -0.4927, 0.2484);
    RUN("randn", INTS(20));
    EXPECT(0, "f32[20]", 0.8728, 1.0554, 0.1778, -0.2303, 2.5672, -0.4731);
    RUN("randint", arg_int(0), arg_int(10), INTS(8));
    EXPECT(0, "i64[8]", 3, 9, 3, 9, 8, 5, 3, 2);
    RUN("randperm", arg_int(9));
    EXPECT(0, "i64[9]", 1, 4, 5, 7, 0, 6, 3, 8, 2);
    RUN("uniform", fixture_tensor(DTYPE_F32, 1, (Dim[]){5}, false, false, 0), arg_int(-2), arg_int(2));
    EXPECT(0, "f32[5]", 1.3476, -0.8721, -0.5034, -1.9052, -0.0359);
    RUN("normal_functional", fixture_tensor(DTYPE_F32, 1, (Dim[]){17}, false, false, 0), arg_float(1), arg_float(0.5));
    ck_assert(fabs(fixture_get(&results[0], (int64_t[]){16}) - 0.7030) < 1e-4);
    Arg p = fixture_tensor(DTYPE_F32, 1, (Dim[]){10}, false, false, 0);
    fill_elements(arg_meta(&p), p.tensor.data, 0.3, 0, 1);
    RUN("bernoulli", p);
    EXPECT(0, "f32[10]", 0, 0, 0, 0, 0, 1, 1, 0, 0, 1);
    rng_seed(fixture_context.generator, 7);
    RUN("rand", INTS(3), NONE, (Arg){.tag = ARG_DTYPE, .dtype = DTYPE_F64});
    EXPECT(0, "f64[3]", 0.2794, 0.2737, 0.8621);
    RUN("randn", INTS(2), NONE, (Arg){.tag = ARG_DTYPE, .dtype = DTYPE_F64});
    EXPECT(0, "f64[2]", -1.2514, -1.8841);
}
END_TEST

START_TEST(in_place_ops_check_their_target) {
    Arg x = VALUES(DTYPE_I64, 1, 2, 3);
    const Op *add_ = op_find(fixture_table, "add_");
    Arg args[3] = {x, arg_float(0.5), arg_int(1)};
    Meta out;
    int count = 1;
    ck_assert(!op_infer(add_, args, 3, &out, &count, &fixture_context, &error));
    ck_assert_str_eq(error.message, "result type Float can't be cast to the desired output type Long");
    args[1] = fixture_tensor(DTYPE_I64, 2, (Dim[]){2, 3}, false, false, 0);
    ck_assert(!op_infer(add_, args, 3, &out, &count, &fixture_context, &error));
    ck_assert_str_eq(error.message, "output with shape [3] doesn't match the broadcast shape [2, 3]");
}
END_TEST

int main(void) {
    const TTest *tests[] = {reductions_agree_with_plain_loops, large_sums_are_exact_and_do_not_depend_on_threads, extremes_take_nan_and_the_first_of_equals,
                            views_look_at_the_right_elements, products_agree_with_plain_loops, indexing_picks_and_puts, arrangements_move_every_element,
                            ordering_is_stable_and_knows_nan, scans_run_along_their_dim, creation_follows_pytorchs_rules, random_streams_are_pytorchs, in_place_ops_check_their_target};
    return UNIT_RUN("op families", tests, fixture_open, fixture_close);
}
