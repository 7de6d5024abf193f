/* Unit tests of inductor: graphs built by hand, compiled for the CPU and compared with the eager kernels. */
#include "lab.h"

static Lab *lab;
static void open_lab(void) { lab = lab_new(); }
static void close_lab(void) { lab_free(lab); }

START_TEST(pointwise_chain_with_broadcast) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 33, 70), *b = lab_input(lab, DTYPE_F32, 1, 70), *c = lab_input(lab, DTYPE_F32, 2, 33, 1);
    Node *y = CALL(lab, "relu", T(CALL(lab, "add", T(CALL(lab, "mul", T(x), T(c))), T(b))));
    lab_output(lab, y);
    lab_output(lab, CALL(lab, "sigmoid", T(y)));
    lab_check(lab, 1e-6);
    ck_assert_int_eq(lab_kernels(lab), 1);
}
END_TEST

static Node *softmax(Node *x, int dim) {
    Node *shifted = CALL(lab, "sub", T(x), T(CALL(lab, "amax", T(x), INTS(dim), B(true))));
    Node *e = CALL(lab, "exp", T(shifted));
    return CALL(lab, "div", T(e), T(CALL(lab, "sum", T(e), INTS(dim), B(true))));
}

START_TEST(softmax_is_one_kernel) {
    lab_output(lab, softmax(lab_input(lab, DTYPE_F32, 2, 37, 130), 1));
    lab_check(lab, 1e-6);
    ck_assert_int_eq(lab_kernels(lab), 1);
}
END_TEST

START_TEST(softmax_over_columns_is_one_kernel) {
    lab_output(lab, softmax(lab_input(lab, DTYPE_F32, 3, 5, 37, 130), 1));
    lab_check(lab, 1e-6);
    ck_assert_int_eq(lab_kernels(lab), 1);
}
END_TEST

static Node *mean_of(Node *x, double count) { return CALL(lab, "div", T(CALL(lab, "sum", T(x), INTS(-1), B(true))), F(count)); }

START_TEST(layer_norm_is_one_kernel) {
    Node *x = lab_input(lab, DTYPE_F32, 3, 4, 9, 96), *weight = lab_input(lab, DTYPE_F32, 1, 96), *bias = lab_input(lab, DTYPE_F32, 1, 96);
    Node *mean = mean_of(x, 96), *centered = CALL(lab, "sub", T(x), T(mean));
    Node *rstd = CALL(lab, "rsqrt", T(CALL(lab, "add", T(mean_of(CALL(lab, "mul", T(centered), T(centered)), 96)), F(1e-5))));
    Node *y = CALL(lab, "add", T(CALL(lab, "mul", T(CALL(lab, "mul", T(centered), T(rstd))), T(weight))), T(bias));
    lab_output(lab, y);
    lab_output(lab, mean);
    lab_output(lab, rstd);
    lab_check(lab, 1e-5);
    ck_assert_int_eq(lab_kernels(lab), 1);
}
END_TEST

START_TEST(sums_of_rows_columns_and_all) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 65, 77), *y = CALL(lab, "exp", T(x));
    lab_output(lab, CALL(lab, "sum", T(y), INTS(1)));
    lab_output(lab, CALL(lab, "sum", T(y), INTS(0)));
    lab_output(lab, CALL(lab, "sum", T(y)));
    lab_check(lab, 1e-5);
}
END_TEST

START_TEST(large_reductions_are_split) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 700, 1001);
    lab_output(lab, CALL(lab, "sum", T(x)));
    lab_output(lab, CALL(lab, "sum", T(x), INTS(0)));
    lab_output(lab, CALL(lab, "amax", T(x), INTS(0, 1)));
    lab_output(lab, CALL(lab, "argmax", T(x)));
    lab_check(lab, 1e-4);
}
END_TEST

START_TEST(argmax_takes_the_first_and_nan_wins) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 8, 100);
    float *data = lab->inputs.at[0];
    for (int i = 0; i < 100; i++) data[i] = -INFINITY, data[100 + i] = i == 40 || i == 90 ? NAN : (float)i, data[200 + i] = i % 7 == 3;
    lab_output(lab, CALL(lab, "argmax", T(x), I(1)));
    lab_output(lab, CALL(lab, "argmin", T(x), I(0)));
    lab_output(lab, CALL(lab, "argmax", T(x)));
    lab_output(lab, CALL(lab, "amax", T(x), INTS(1)));
    lab_check(lab, 0);
}
END_TEST

START_TEST(value_and_index_of_a_maximum) {
    Node *x = lab_input(lab, DTYPE_F32, 3, 4, 19, 30);
    Node *pair = CALL(lab, "max", T(x), I(1));
    lab_output(lab, graph_getitem(lab->graph, pair, 0));
    lab_output(lab, graph_getitem(lab->graph, pair, 1));
    lab_check(lab, 0);
    ck_assert_int_eq(lab_kernels(lab), 1);
}
END_TEST

START_TEST(transposes_and_tiles) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 100, 130), *y = lab_input(lab, DTYPE_F32, 2, 130, 100);
    lab_output(lab, CALL(lab, "add", T(CALL(lab, "transpose", T(x), I(0), I(1))), T(y)));
    lab_check(lab, 0);
    ck_assert_int_eq(lab_kernels(lab), 1);
}
END_TEST

START_TEST(reshape_divides_indices) {
    Node *x = lab_input(lab, DTYPE_F32, 3, 6, 5, 4);
    Node *flat = CALL(lab, "reshape", T(CALL(lab, "permute", T(x), INTS(2, 0, 1))), INTS(8, 15));
    lab_output(lab, CALL(lab, "mul", T(flat), F(2)));
    lab_output(lab, CALL(lab, "sum", T(CALL(lab, "mul", T(flat), T(flat))), INTS(1)));
    lab_check(lab, 1e-6);
}
END_TEST

START_TEST(views_of_inputs_are_views) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 6, 8);
    Node *part = CALL(lab, "slice", T(x), I(0), I(1), I(5), I(2));
    lab_output(lab, part);
    lab_output(lab, x);
    lab_output(lab, CALL(lab, "neg", T(CALL(lab, "select", T(part), I(1), I(3)))));
    lab_check(lab, 0);
    ck_assert_int_eq(lab->plan->outputs.at[0].alias_input, 0);
    ck_assert_int_eq(lab->plan->outputs.at[1].alias_input, 0);
    ck_assert_int_eq(lab->plan->outputs.at[2].alias_input, -1);
    ck_assert_int_eq(lab_kernels(lab), 1);
}
END_TEST

START_TEST(output_that_is_a_view_of_another) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 6, 8), *y = CALL(lab, "exp", T(x));
    lab_output(lab, y);
    lab_output(lab, CALL(lab, "t", T(y)));
    lab_check(lab, 1e-6);
    ck_assert_int_eq(lab->plan->outputs.at[0].buffer, lab->plan->outputs.at[1].buffer);
    ck_assert_int_eq(lab->plan->allocated_outputs, 1);
}
END_TEST

START_TEST(strided_and_expanded_inputs) {
    Meta meta = meta_new(DTYPE_F32, (Device){DEVICE_CPU, 0}, 2, (Dim[]){7, 9});
    meta.strides[0] = 0, meta.strides[1] = 2, meta.offset = 3;
    Node *x = lab_input_meta(lab, &meta), *y = lab_input(lab, DTYPE_F32, 2, 7, 9);
    lab_output(lab, CALL(lab, "add", T(x), T(y)));
    lab_output(lab, CALL(lab, "sum", T(x), INTS(0)));
    lab_check(lab, 1e-6);
}
END_TEST

START_TEST(no_elements_and_no_dims) {
    Node *empty = lab_input(lab, DTYPE_F32, 2, 0, 5), *scalar = lab_input(lab, DTYPE_F32, 0);
    lab_output(lab, CALL(lab, "exp", T(empty)));
    lab_output(lab, CALL(lab, "sum", T(empty), INTS(0)));
    lab_output(lab, CALL(lab, "prod", T(empty)));
    lab_output(lab, CALL(lab, "mul", T(scalar), T(scalar)));
    lab_output(lab, CALL(lab, "sum", T(scalar)));
    lab_check(lab, 1e-6);
}
END_TEST

START_TEST(narrow_dtypes) {
    Node *i8 = lab_input(lab, DTYPE_I8, 1, 90), *u8 = lab_input(lab, DTYPE_U8, 1, 90), *flag = lab_input(lab, DTYPE_BOOL, 1, 90), *i32 = lab_input(lab, DTYPE_I32, 1, 90);
    lab_output(lab, CALL(lab, "mul", T(CALL(lab, "mul", T(i8), T(i8))), T(i8)));
    lab_output(lab, CALL(lab, "floor_divide", T(CALL(lab, "add", T(u8), T(u8))), I(2)));
    lab_output(lab, CALL(lab, "add", T(flag), T(i32)));
    lab_output(lab, CALL(lab, "sum", T(flag)));
    lab_output(lab, CALL(lab, "any", T(flag)));
    lab_output(lab, CALL(lab, "where", T(flag), T(i32), T(i8)));
    lab_output(lab, CALL(lab, "logical_not", T(i8)));
    lab_check(lab, 0);
}
END_TEST

START_TEST(half_precision_chain_stays_wide) {
    Node *x = lab_input(lab, DTYPE_BF16, 2, 40, 64), *y = CALL(lab, "mul", T(CALL(lab, "add", T(x), F(1))), T(x));
    lab_output(lab, CALL(lab, "sum", T(y), INTS(1)));
    lab_output(lab, y);
    lab_check(lab, 0.02);
    ck_assert_int_eq(lab_kernels(lab), 1);
}
END_TEST

START_TEST(half_precision_chain_rounds_when_asked) {
    Policy policy = policy_best;
    policy.emulate_precision_casts = true;
    lab->c.policy = &policy;
    Node *x = lab_input(lab, DTYPE_BF16, 2, 40, 64), *h = lab_input(lab, DTYPE_F16, 2, 40, 64);
    lab_output(lab, CALL(lab, "mul", T(CALL(lab, "add", T(x), F(1))), T(x)));
    lab_output(lab, CALL(lab, "mul", T(CALL(lab, "add", T(h), F(1))), T(h)));
    lab_check(lab, 0);
}
END_TEST

/* ---- mutations ---- */
START_TEST(mutation_is_stored_in_place) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 20, 30), *g = lab_input(lab, DTYPE_F32, 2, 20, 30), *m = lab_input(lab, DTYPE_F32, 2, 20, 30);
    Node *moment = CALL(lab, "add", T(CALL(lab, "mul", T(m), F(0.9))), T(g));
    lab_mutate(lab, m, moment);
    lab_mutate(lab, x, CALL(lab, "sub", T(x), T(CALL(lab, "mul", T(moment), F(0.1)))));
    lab_check(lab, 1e-6);
    ck_assert_int_eq(lab->plan->launches.count, 1);
    ck_assert(lab_has_reason(lab, "mutation.in_place"));
}
END_TEST

START_TEST(mutation_that_reads_neighbours_is_copied) { /* x[1:] = x[1:] + x[:-1] */
    Node *x = lab_input(lab, DTYPE_F32, 1, 50);
    Node *head = CALL(lab, "slice", T(x), I(0), I(0), I(49)), *tail = CALL(lab, "slice", T(x), I(0), I(1), I(50));
    Node *padded = CALL(lab, "add", T(tail), T(head));
    Node *flipped = CALL(lab, "as_strided", T(x), INTS(50), INTS(1), I(0));
    lab_output(lab, padded);
    lab_mutate(lab, x, CALL(lab, "add", T(flipped), T(CALL(lab, "sum", T(x)))));
    lab_check(lab, 1e-6);
}
END_TEST

START_TEST(old_value_is_read_after_the_mutation) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 16, 24), *y = CALL(lab, "add", T(x), F(1));
    lab_mutate(lab, x, y);
    lab_output(lab, CALL(lab, "sum", T(CALL(lab, "mul", T(x), T(y))), INTS(0)));
    lab_output(lab, CALL(lab, "transpose", T(CALL(lab, "exp", T(x))), I(0), I(1)));
    lab_check(lab, 1e-5);
}
END_TEST

START_TEST(two_inputs_change_places) {
    Node *x = lab_input(lab, DTYPE_F32, 1, 40), *y = lab_input(lab, DTYPE_F32, 1, 40);
    lab_mutate(lab, x, y);
    lab_mutate(lab, y, CALL(lab, "clone", T(x)));
    lab_check(lab, 0);
}
END_TEST

START_TEST(mutated_view_with_gaps) {
    Meta meta = meta_new(DTYPE_F32, (Device){DEVICE_CPU, 0}, 1, (Dim[]){10});
    meta.strides[0] = 3, meta.offset = 2;
    Node *x = lab_input_meta(lab, &meta);
    lab_mutate(lab, x, CALL(lab, "mul", T(x), T(x)));
    lab_check(lab, 0);
}
END_TEST

/* ---- matmul ---- */
START_TEST(matmul_with_bias_and_relu) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 32, 20), *w = lab_input(lab, DTYPE_F32, 2, 48, 20), *b = lab_input(lab, DTYPE_F32, 1, 48);
    lab_output(lab, CALL(lab, "relu", T(CALL(lab, "addmm", T(b), T(x), T(CALL(lab, "t", T(w)))))));
    lab_check(lab, 1e-5);
    ck_assert_int_eq(lab->plan->launches.count, 2); /* OpenBLAS has no epilogues: bias and relu are one kernel */
    if (!lab->card_plan) return;
    ck_assert_int_eq(lab->card_plan->launches.count, 1);
    ck_assert_uint_eq(lab->card_plan->launches.at[0].matmul.epilogue, EPILOGUE_BIAS | EPILOGUE_RELU);
}
END_TEST

START_TEST(matmul_with_residual_through_a_view) {
    Node *x = lab_input(lab, DTYPE_F32, 3, 2, 16, 20), *w = lab_input(lab, DTYPE_F32, 2, 20, 48), *b = lab_input(lab, DTYPE_F32, 1, 48), *r = lab_input(lab, DTYPE_F32, 3, 2, 16, 48);
    Node *y = CALL(lab, "view", T(CALL(lab, "mm", T(CALL(lab, "view", T(x), INTS(32, 20))), T(w))), INTS(2, 16, 48));
    lab_output(lab, CALL(lab, "relu", T(CALL(lab, "add", T(r), T(CALL(lab, "add", T(y), T(b)))))));
    lab_check(lab, 1e-5);
    ck_assert_int_eq(lab->plan->launches.count, 2);
    if (lab->card_plan) ck_assert_int_eq(lab->card_plan->launches.count, 1);
}
END_TEST

START_TEST(matmul_before_a_kernel_stays_plain) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 32, 20), *w = lab_input(lab, DTYPE_F32, 2, 20, 48), *b = lab_input(lab, DTYPE_F32, 1, 48);
    lab_output(lab, softmax(CALL(lab, "relu", T(CALL(lab, "addmm", T(b), T(x), T(w)))), 1));
    lab_check(lab, 1e-5);
    ck_assert_int_eq(lab->plan->launches.count, 2);
    ck_assert_uint_eq(lab->plan->launches.at[0].matmul.epilogue, EPILOGUE_NONE);
    if (!lab->card_plan) return;
    ck_assert_int_eq(lab->card_plan->launches.count, 2);
    ck_assert_uint_eq(lab->card_plan->launches.at[0].matmul.epilogue, EPILOGUE_NONE);
}
END_TEST

START_TEST(matmul_operands_in_any_layout) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 32, 40), *w = lab_input(lab, DTYPE_F32, 2, 40, 24), *r = lab_input(lab, DTYPE_F32, 2, 16, 24), *b3 = lab_input(lab, DTYPE_F32, 3, 3, 16, 20);
    Node *every = CALL(lab, "slice", T(x), I(0), I(0), I(32), I(2)), *half = CALL(lab, "slice", T(every), I(1), I(0), I(40), I(2));
    Node *rows = CALL(lab, "mm", T(half), T(CALL(lab, "slice", T(w), I(0), I(0), I(20))));
    lab_output(lab, CALL(lab, "add", T(rows), T(r)));
    lab_output(lab, CALL(lab, "bmm", T(b3), T(CALL(lab, "transpose", T(b3), I(1), I(2)))));
    lab_output(lab, CALL(lab, "addmm", T(r), T(CALL(lab, "exp", T(half))), T(CALL(lab, "slice", T(w), I(0), I(20))), NAMED("beta", F(0.5)), NAMED("alpha", F(2))));
    lab_check(lab, 1e-5);
}
END_TEST

START_TEST(integer_matmul_calls_the_eager_kernel) {
    Node *x = lab_input(lab, DTYPE_I64, 2, 5, 6), *y = lab_input(lab, DTYPE_I64, 2, 6, 7);
    lab_output(lab, CALL(lab, "neg", T(CALL(lab, "mm", T(x), T(y)))));
    lab_check(lab, 0);
}
END_TEST

/* ---- indexing ---- */
static Node *indices(int rank, int a, int b, int limit) { /* int64 input with values in [-limit, limit) or [0, limit) */
    Node *node = rank == 1 ? lab_input(lab, DTYPE_I64, 1, a) : lab_input(lab, DTYPE_I64, 2, a, b);
    int64_t *data = vec_last(&lab->inputs);
    for (int i = 0; i < a * (rank > 1 ? b : 1); i++) data[i] = (int64_t)(lab_draw(lab) * limit);
    return node;
}

START_TEST(gathers_are_part_of_a_kernel) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 20, 30), *w = lab_input(lab, DTYPE_F32, 2, 40, 16), *at = indices(1, 25, 0, 20), *pick = indices(2, 20, 7, 30);
    lab_output(lab, CALL(lab, "mul", T(CALL(lab, "index_select", T(x), I(0), T(at))), F(2)));
    lab_output(lab, CALL(lab, "exp", T(CALL(lab, "gather", T(x), I(1), T(pick)))));
    lab_output(lab, CALL(lab, "add", T(CALL(lab, "embedding", T(w), T(at))), F(1)));
    lab_output(lab, CALL(lab, "index", T(x), LIST(arg_none(), arg_node(at))));
    lab_check(lab, 1e-6);
    ck_assert(!lab_has_reason(lab, "extern.no_loop"));
}
END_TEST

START_TEST(cat_pad_and_stack) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 6, 5), *y = lab_input(lab, DTYPE_F32, 2, 6, 9), *none = lab_input(lab, DTYPE_F32, 2, 6, 0);
    lab_output(lab, CALL(lab, "mul", T(CALL(lab, "cat", LIST(arg_node(x), arg_node(none), arg_node(y), arg_node(x)), I(1))), F(3)));
    lab_output(lab, CALL(lab, "constant_pad_nd", T(x), INTS(1, 2, 3, 0), F(0.5)));
    lab_output(lab, CALL(lab, "stack", LIST(arg_node(x), arg_node(CALL(lab, "neg", T(x)))), I(1)));
    lab_output(lab, CALL(lab, "tril", T(y), I(1)));
    lab_output(lab, CALL(lab, "flip", T(y), INTS(0, 1)));
    lab_check(lab, 0);
    ck_assert(!lab_has_reason(lab, "extern.no_loop"));
}
END_TEST

START_TEST(scatters_with_duplicate_targets) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 10, 6), *source = lab_input(lab, DTYPE_F32, 2, 30, 6), *rows = indices(1, 30, 0, 10), *at = indices(2, 30, 6, 10);
    lab_output(lab, CALL(lab, "index_add", T(x), I(0), T(rows), T(CALL(lab, "mul", T(source), F(0.5)))));
    lab_output(lab, CALL(lab, "neg", T(CALL(lab, "scatter_add", T(x), I(0), T(at), T(source)))));
    lab_output(lab, CALL(lab, "embedding_dense_backward", T(source), T(rows), I(10), I(-1), B(false)));
    lab_output(lab, CALL(lab, "index_put", T(x), LIST(arg_node(rows)), T(source), B(true)));
    lab_check(lab, 1e-5);
    ck_assert(!lab_has_reason(lab, "extern.no_loop"));
}
END_TEST

START_TEST(scatter_into_an_input_leaves_no_copy) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 64, 6), *source = lab_input(lab, DTYPE_F32, 2, 3, 6), *rows = lab_input(lab, DTYPE_I64, 1, 3);
    int64_t *data = vec_last(&lab->inputs);
    data[0] = 5, data[1] = 63, data[2] = 0;
    lab_mutate(lab, x, CALL(lab, "index_put", T(x), LIST(arg_node(rows)), T(source)));
    lab_check(lab, 0);
    ck_assert_int_eq(lab->plan->launches.count, 1);
}
END_TEST

START_TEST(slice_scatter_and_select_scatter) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 12, 7), *part = lab_input(lab, DTYPE_F32, 2, 4, 7), *row = lab_input(lab, DTYPE_F32, 1, 7);
    lab_output(lab, CALL(lab, "slice_scatter", T(x), T(part), I(0), I(2), I(10), I(2)));
    lab_output(lab, CALL(lab, "select_scatter", T(x), T(row), I(0), I(-3)));
    lab_check(lab, 0);
}
END_TEST

START_TEST(ops_without_a_loop_are_called) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 9, 20), *sorted = CALL(lab, "sort", T(CALL(lab, "neg", T(x))), I(1));
    lab_output(lab, CALL(lab, "exp", T(graph_getitem(lab->graph, sorted, 0))));
    lab_output(lab, graph_getitem(lab->graph, sorted, 1));
    lab_output(lab, CALL(lab, "cumsum", T(x), I(0)));
    lab_check(lab, 1e-5);
    ck_assert(lab_has_reason(lab, "extern.no_loop"));
}
END_TEST

START_TEST(parts_of_a_split) {
    Node *x = lab_input(lab, DTYPE_F32, 2, 6, 10), *parts = CALL(lab, "split", T(CALL(lab, "exp", T(x))), I(4), I(1));
    lab_output(lab, CALL(lab, "mul", T(graph_getitem(lab->graph, parts, 0)), T(graph_getitem(lab->graph, parts, 1))));
    lab_output(lab, CALL(lab, "neg", T(graph_getitem(lab->graph, parts, 2))));
    lab_check(lab, 1e-6);
}
END_TEST

/* ---- symbolic sizes: one plan for all ---- */
static void build_symbolic(Lab *l, Node *x, Node *b, Dim n) {
    Node *e = CALL(l, "exp", T(CALL(l, "add", T(x), T(b))));
    lab_output(l, CALL(l, "div", T(e), T(CALL(l, "sum", T(e), INTS(1), B(true)))));
    lab_output(l, CALL(l, "sum", T(x), INTS(0)));
    lab_output(l, CALL(l, "sum", T(x)));
    lab_output(l, CALL(l, "mul", T(CALL(l, "reshape", T(CALL(l, "transpose", T(x), I(0), I(1))), INTS(dim_is_int(n) ? n * 33 : dim_mul(l->c.syms, n, 33)))), F(2)));
}

static int64_t size_value(const Sym *var, void *state) {
    (void)var;
    return *(int64_t *)state;
}

static void check_symbolic(Lab *symbolic, int64_t n) {
    Lab *still = lab_new();
    Device cpu = {DEVICE_CPU, 0};
    Node *x = lab_input(still, DTYPE_F32, 2, (int)n, 33), *b = lab_input(still, DTYPE_F32, 1, 33);
    void *inputs[2] = {still->inputs.at[0], still->inputs.at[1]}, *outputs[4];
    build_symbolic(still, x, b, n);
    for (int i = 0; i < still->graph->nodes.count; i++) lab_run_node(still, still->graph->nodes.at[i]);
    for (int i = 0; i < 4; i++) outputs[i] = arena_alloc(still->arena, (size_t)(n * 33 + 16) * 4);
    OpError error = {0};
    ck_assert_msg(plan_run(symbolic->runtime, symbolic->plan, inputs, NULL, outputs, (int64_t[]){n}, &error), "%s", error.message);
    for (int i = 0; i < 4; i++) {
        Meta meta = symbolic->plan->outputs.at[i].meta;
        for (int d = 0; d < meta.rank; d++) meta.sizes[d] = dim_evaluate(meta.sizes[d], size_value, &n), meta.strides[d] = dim_evaluate(meta.strides[d], size_value, &n);
        meta.device = cpu;
        const Arg *want = map_get(still->values, still->graph->outputs.at[i]);
        lab_compare("symbolic output", i, want->tensor.meta, want->tensor.data, &meta, outputs[symbolic->plan->buffers.at[symbolic->plan->outputs.at[i].buffer].index], 1e-4);
    }
    lab_free(still);
}

START_TEST(one_plan_for_all_sizes) {
    Dim n = sym_var(lab->c.syms, "s0", 2, INT64_MAX, SYM_SIZE);
    ((Sym *)(uintptr_t)dim_sym(n))->hint = 40;
    Meta meta = meta_new(DTYPE_F32, lab->device, 2, (Dim[]){n, 33}), row = meta_new(DTYPE_F32, lab->device, 1, (Dim[]){33});
    meta_set_contiguous(&meta, lab->c.syms);
    Node *x = graph_input(lab->graph, "x", &meta, (Span){0}), *b = graph_input(lab->graph, "b", &row, (Span){0});
    build_symbolic(lab, x, b, n);
    graph_finish(lab->graph);
    lab_compile(lab, lab->device);
    ck_assert_int_eq(lab->plan->size_inputs, 1);
    OpError error = {0};
    ck_assert_msg(plan_load(lab->runtime, lab->plan, NULL, &error), "%s", error.message);
    for (int64_t size = 2; size < 3000; size = size * 3 + 1) check_symbolic(lab, size);
    Plan *plan = lab->plan;
    plan_unload(lab->runtime, plan);
    lab_check_cuda(lab, -1);
    lab->plan = plan;
}
END_TEST

/* ---- random ---- */
START_TEST(random_numbers_are_uniform_and_repeat) {
    Node *u = CALL(lab, "rand", INTS(100, 100));
    Node *again = CALL(lab, "rand", INTS(100, 100));
    lab_output(lab, u);
    lab_output(lab, CALL(lab, "add", T(u), F(0)));
    lab_output(lab, again);
    graph_finish(lab->graph);
    lab_compile(lab, lab->device);
    ck_assert_int_eq(lab->plan->random_draws, 2);
    void *outputs[4] = {0};
    lab_run_plan(lab, NULL, outputs);
    const float *a = outputs[0], *b = outputs[1], *c = outputs[2];
    double sum = 0, together = 0;
    for (int i = 0; i < 10000; i++) {
        ck_assert(a[i] >= 0 && a[i] < 1 && a[i] == b[i]);
        sum += a[i];
        together += (a[i] - 0.5) * (c[i] - 0.5);
    }
    ck_assert(fabs(sum / 10000 - 0.5) < 0.02);
    ck_assert(fabs(together / 10000) < 0.005);
    Plan *plan = lab->plan;
    plan_unload(lab->runtime, plan);
    lab_check_cuda(lab, -1);
    lab->plan = plan;
}
END_TEST

int main(void) {
    const TTest *tests[] = {pointwise_chain_with_broadcast, softmax_is_one_kernel, softmax_over_columns_is_one_kernel, layer_norm_is_one_kernel, sums_of_rows_columns_and_all,
                            large_reductions_are_split, argmax_takes_the_first_and_nan_wins, value_and_index_of_a_maximum, transposes_and_tiles, reshape_divides_indices, views_of_inputs_are_views,
                            output_that_is_a_view_of_another, strided_and_expanded_inputs, no_elements_and_no_dims, narrow_dtypes, half_precision_chain_stays_wide,
                            half_precision_chain_rounds_when_asked, mutation_is_stored_in_place, mutation_that_reads_neighbours_is_copied,
                            old_value_is_read_after_the_mutation, two_inputs_change_places, mutated_view_with_gaps,
                            matmul_with_bias_and_relu, matmul_with_residual_through_a_view, matmul_before_a_kernel_stays_plain, matmul_operands_in_any_layout, integer_matmul_calls_the_eager_kernel, gathers_are_part_of_a_kernel, cat_pad_and_stack,
                            scatters_with_duplicate_targets, scatter_into_an_input_leaves_no_copy, slice_scatter_and_select_scatter, ops_without_a_loop_are_called, parts_of_a_split,
                            one_plan_for_all_sizes, random_numbers_are_uniform_and_repeat};
    return UNIT_RUN("inductor", tests, open_lab, close_lab);
}
