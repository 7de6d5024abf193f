/* Unit tests of engine/run: compiling and running hand-made plans on the CPU, through cc and OpenBLAS. */
#include "run_unit.h"
#include "run/half.h"
#include <math.h>

static const char add_one[] = "float *x = pointers[0], *y = pointers[1];\nfor (long i = 0; i < 8; i++) y[i] = x[i] + 1;";

/* y = (x + 1) + 1 through a temporary. */
static Plan *plan_add_two(void) {
    Plan *plan = plan_new();
    Kernel *kernel = kernel_new("fused_add_0", add_one);
    int x = plan_buffer(plan, BUFFER_INPUT, 0, vector_of(DTYPE_F32, 8)), y = plan_buffer(plan, BUFFER_OUTPUT, 0, vector_of(DTYPE_F32, 8)), t = plan_buffer(plan, BUFFER_TEMPORARY, 0, vector_of(DTYPE_F32, 8));
    plan->buffers.at[t].offset = 64;
    plan->block_bytes = 128;
    plan_kernel(plan, kernel, (int[]){x, t}, 2);
    plan_kernel(plan, kernel, (int[]){t, y}, 2);
    return plan;
}

static void check_add_two(Runtime *rt, Plan *plan) {
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8] = {0};
    OpError error = {0};
    ck_assert_msg(plan_run(rt, plan, (void *[]){x}, NULL, (void *[]){y}, NULL, &error), "%s", error.message);
    for (int i = 0; i < 8; i++) ck_assert_float_eq(y[i], (float)i + 2);
}

START_TEST(plan_runs_kernels_over_a_temporary) {
    Runtime *rt = open_runtime("");
    Plan *plan = plan_add_two();
    CompileReport report;
    OpError error = {0};
    ck_assert(!plan_run(rt, plan, NULL, NULL, NULL, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "not loaded"));
    ck_assert_msg(plan_load(rt, plan, &report, &error), "%s", error.message);
    ck_assert_int_eq(report.kernels, 1);
    ck_assert_int_eq(report.cached, 0);
    ck_assert(report.seconds > 0);
    check_add_two(rt, plan);
    int64_t used = device_memory_used(rt, cpu);
    check_add_two(rt, plan);
    ck_assert_int_eq(device_memory_used(rt, cpu), used); /* the block went back */
    LaunchTime times[2] = {{.launch = -1}, {.launch = -1}};
    float x[8] = {0}, y[8];
    ck_assert(plan_profile(rt, plan, (void *[]){x}, NULL, (void *[]){y}, NULL, times, &error));
    ck_assert_int_eq(times[1].launch, 1);
    ck_assert(times[1].start_us >= times[0].start_us + times[0].length_us - 1e-3);
    plan_unload(rt, plan);
    ck_assert(!plan_run(rt, plan, NULL, NULL, NULL, NULL, &error));
}
END_TEST

START_TEST(plans_outlive_neither_runtime_nor_arena) {
    Arena *own = arena_new("plan");
    Arena *kept = arena;
    Runtime *rt = open_runtime("");
    OpError error;
    arena = own;
    Plan *plan = plan_add_two();
    ck_assert(plan_load(rt, plan, NULL, &error));
    arena = kept;
    Plan *other = plan_add_two();
    ck_assert(plan_load(rt, other, NULL, &error));
    arena_free(own); /* takes its code along; the same kernel of the other plan stays */
    check_add_two(rt, other);
    runtime_close(rt);
    ck_assert(!plan_run(rt, other, NULL, NULL, NULL, NULL, &error));
}
END_TEST

START_TEST(kernels_come_from_the_disk_the_second_time) {
    CompileReport report;
    OpError error = {0};
    for (int i = 0; i < 3; i++) {
        Runtime *rt = open_runtime(folder);
        Plan *plan = plan_add_two();
        ck_assert_msg(plan_load(rt, plan, &report, &error), "%s", error.message);
        ck_assert_int_eq(report.cached, i > 0);
        check_add_two(rt, plan);
        if (i == 2) { /* same body under another number: the same code */
            Plan *renamed = plan_new();
            plan_kernel(renamed, kernel_new("fused_add_17", arena_printf(arena, "/* %%y = %%x + 1 */%s // end", add_one)), NULL, 0);
            ck_assert(plan_load(rt, renamed, &report, &error));
            ck_assert_int_eq(report.cached, 1);
        }
        runtime_close(rt);
    }
}
END_TEST

/* While the caches are bypassed the same kernel is compiled once more, though it is loaded and on disk; nothing of it is kept for later. */
START_TEST(bypassed_caches_compile_again) {
    CompileReport report;
    OpError error = {0};
    Runtime *rt = open_runtime(folder);
    for (int i = 0; i < 4; i++) {
        Plan *plan = plan_add_two();
        runtime_bypass_cache(rt, i == 1 || i == 2);
        ck_assert_msg(plan_load(rt, plan, &report, &error), "%s", error.message);
        ck_assert_int_eq(report.cached, i == 3);
        check_add_two(rt, plan);
    }
    runtime_close(rt);
}
END_TEST

static int damage(const char *path, const struct stat *facts, int kind, struct FTW *place) {
    (void)place;
    if (kind == FTW_F && facts->st_size > 200) flip_byte(path, facts->st_size / 2);
    return 0;
}

START_TEST(damaged_code_is_compiled_again) {
    CompileReport report;
    OpError error = {0};
    for (int i = 0; i < 3; i++) {
        Runtime *rt = open_runtime(folder);
        Plan *plan = plan_add_two();
        ck_assert_msg(plan_load(rt, plan, &report, &error), "%s", error.message);
        ck_assert_int_eq(report.cached, i == 2);
        check_add_two(rt, plan);
        runtime_close(rt);
        if (i == 0) nftw(folder, damage, 16, FTW_PHYS);
    }
    ck_assert_int_eq(warnings, 0);
}
END_TEST

START_TEST(processes_compile_the_same_plan_at_once) {
    for (int p = 0; p < 4; p++)
        if (fork() == 0) {
            Runtime *rt = open_runtime(folder);
            Plan *plan = plan_add_two();
            OpError error = {0};
            bool good = plan_load(rt, plan, NULL, &error);
            if (good) check_add_two(rt, plan);
            runtime_close(rt);
            _exit(good && warnings == 0 ? 0 : 1);
        }
    for (int p = 0; p < 4; p++) {
        int status = -1;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

START_TEST(many_kernels_and_clashing_helpers) {
    Runtime *rt = open_runtime("");
    Plan *plan = plan_new();
    OpError error = {0};
    CompileReport report;
    int y = plan_buffer(plan, BUFFER_OUTPUT, 0, vector_of(DTYPE_F32, 40));
    for (int i = 0; i < 40; i++) {
        Kernel *kernel = kernel_new(arena_printf(arena, "fill_%d", i), arena_printf(arena, "((float *)pointers[0])[%d] = helper();", i));
        kernel->name = arena_printf(arena, "k%d", i);
        kernel->source = arena_printf(arena, "static float helper(void) { return %d; }\n%s", i / 2, kernel->source); /* the same name in every kernel */
        plan_kernel(plan, kernel, &y, 1);
    }
    ck_assert_msg(plan_load(rt, plan, &report, &error), "%s", error.message);
    float out[40] = {0};
    ck_assert(plan_run(rt, plan, NULL, NULL, (void *[]){out}, NULL, &error));
    for (int i = 0; i < 40; i++) ck_assert_float_eq(out[i], (float)(i / 2));
}
END_TEST

START_TEST(a_bad_kernel_names_the_users_line) {
    Runtime *rt = open_runtime("");
    SourceFile *file = source_new(arena, "demo.py", "a\nb\ny = x.relu()\n", 17, 1);
    Plan *plan = plan_new();
    OpError error = {0};
    plan_kernel(plan, kernel_new("good_0", add_one), NULL, 0);
    Kernel *bad = kernel_new("bad_0", "int fine;\nnonsense;\n");
    bad->name = "k1";
    KernelLine lines[2] = {{2, 5, {file, 0, 1}}, {3, 6, {file, 4, 16}}};
    for (int i = 0; i < 2; i++) vec_push_in(arena, &bad->lines, lines[i]);
    plan_kernel(plan, bad, NULL, 0);
    ck_assert(!plan_load(rt, plan, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "demo.py:3: kernel k1 (bad_0) does not compile"));
    ck_assert_ptr_nonnull(strstr(error.message, "nonsense"));
}
END_TEST

START_TEST(a_missing_compiler_is_one_clear_error) {
    OpError error = {0};
    setenv("PATH", "/nonexistent", 1);
    unsetenv("CC");
    Runtime *rt = open_runtime(folder);
    ck_assert(!plan_load(rt, plan_add_two(), NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "no C compiler was found"));
    const char *why = NULL;
    ck_assert(!host_available(rt, &why));
    ck_assert_ptr_nonnull(why);
    Text text = {0};
    runtime_versions(rt, &text);
    ck_assert_ptr_nonnull(strstr(text_cstr(&text), "no C compiler was found"));
    text_free(&text);
}
END_TEST

START_TEST(an_interrupt_ends_the_compiler) {
    char path[128];
    OpError error = {0};
    snprintf(path, sizeof path, "%s/slow-cc", folder);
    FILE *script = fopen(path, "w");
    fprintf(script, "#!/bin/sh\nsleep 50\n");
    fclose(script);
    chmod(path, 0700);
    setenv("CC", path, 1);
    Runtime *rt = open_runtime("");
    interrupt = 1;
    double start = clock_us();
    ck_assert(!plan_load(rt, plan_add_two(), NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "interrupted"));
    ck_assert(clock_us() - start < 10e6);
}
END_TEST

START_TEST(an_unaligned_pointer_takes_the_scalar_twin) {
    Runtime *rt = open_runtime("");
    Plan *plan = plan_new();
    OpError error = {0};
    Kernel *kernel = kernel_new("vector_0", "((float *)pointers[0])[0] = 1;"), *twin = kernel_new("scalar_0", "((float *)pointers[0])[0] = 2;");
    kernel->vector_bytes = 16;
    kernel->scalar_twin = twin;
    int y = plan_buffer(plan, BUFFER_OUTPUT, 0, vector_of(DTYPE_F32, 1));
    plan_kernel(plan, kernel, &y, 1);
    ck_assert(plan_load(rt, plan, NULL, &error));
    _Alignas(64) float out[5] = {0};
    for (int i = 0; i < 5; i++) ck_assert(plan_run(rt, plan, NULL, NULL, (void *[]){out + i}, NULL, &error));
    float expected[5] = {1, 2, 2, 2, 1};
    ck_assert_mem_eq(out, expected, sizeof out);
}
END_TEST

/* A plan over a symbolic n: t = x + 1 in a temporary whose size is n, y = t * 2; sizes reach the kernels. */
START_TEST(symbolic_sizes_reach_kernels_and_temporaries) {
    Runtime *rt = open_runtime("");
    SymTable *syms = sym_table_new(arena);
    Plan *plan = plan_new();
    OpError error = {0};
    Dim n = sym_var(syms, "s0", 1, 1 << 20, SYM_SIZE), twice = dim_mul(syms, n, 2);
    plan->size_inputs = 1;
    plan->size_vars = &n;
    int x = plan_buffer(plan, BUFFER_INPUT, 0, vector_of(DTYPE_F32, twice)), y = plan_buffer(plan, BUFFER_OUTPUT, 0, vector_of(DTYPE_F32, twice)), t = plan_buffer(plan, BUFFER_TEMPORARY, 0, vector_of(DTYPE_F32, twice));
    Kernel *first = kernel_new("add_0", "float *x = pointers[0], *y = pointers[1]; for (long i = 0; i < sizes[0]; i++) y[i] = x[i] + 1;");
    Kernel *second = kernel_new("mul_0", "float *x = pointers[0], *y = pointers[1]; for (long i = 0; i < sizes[0]; i++) y[i] = x[i] * 2;");
    second->name = "k1";
    plan_kernel(plan, first, (int[]){x, t}, 2);
    plan_kernel(plan, second, (int[]){t, y}, 2);
    for (int i = 0; i < 2; i++) plan->launches.at[i].sizes = &twice, plan->launches.at[i].size_count = 1;
    ck_assert_msg(plan_load(rt, plan, NULL, &error), "%s", error.message);
    for (int64_t size = 1; size < 5000; size = size * 3 + 1) {
        float *in = arena_alloc(arena, (size_t)size * 8), *out = arena_alloc(arena, (size_t)size * 8);
        for (int64_t i = 0; i < 2 * size; i++) in[i] = (float)i;
        ck_assert(plan_run(rt, plan, (void *[]){in}, NULL, (void *[]){out}, &size, &error));
        for (int64_t i = 0; i < 2 * size; i++) ck_assert_float_eq(out[i], (float)(i + 1) * 2);
    }
    ck_assert_int_eq(device_memory_used(rt, cpu), 0);
    Dim stranger = sym_var(syms, "s1", 1, 9, SYM_SIZE);
    plan->launches.at[1].sizes = &stranger;
    ck_assert(!plan_load(rt, plan, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "not an expression of the plan's inputs"));
}
END_TEST

static int64_t look_up(const Sym *var, void *state) { return ((int64_t *)state)[var->name[0] - 'a']; }

START_TEST(dimcode_agrees_with_the_expressions) {
    SymTable *syms = sym_table_new(arena);
    Dim a = sym_var(syms, "a", -100, 100, SYM_SIZE), b = sym_var(syms, "b", 1, 50, SYM_SIZE), vars[2] = {a, b};
    Dim sum = dim_add(syms, dim_mul(syms, a, 3), dim_sub(syms, b, 7));
    Dim cases[] = {sum, dim_floordiv(syms, sum, b), dim_mod(syms, sum, b), dim_min(syms, a, b), dim_max(syms, sum, dim_mul(syms, a, b)), dim_relation(syms, SYM_LE, a, b), dim_relation(syms, SYM_EQ, sum, b), 42};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DimCode code;
        ck_assert(dimcode_make(arena, cases[i], vars, 2, &code));
        for (int64_t x = -100; x <= 100; x += 7)
            for (int64_t y = 1; y <= 50; y += 3) {
                int64_t values[2] = {x, y};
                ck_assert_int_eq(dimcode_run(&code, values), dim_is_int(cases[i]) ? cases[i] : dim_evaluate(cases[i], look_up, values));
            }
    }
    DimCode code;
    ck_assert(!dimcode_make(arena, sum, vars, 1, &code));
}
END_TEST

START_TEST(extern_ops_get_views_of_buffers) {
    Runtime *rt = open_runtime("");
    static const FamilyOps family = {.run_cpu = run_scale};
    Op op = {.name = "scale", .family_ops = &family, .outputs = 1};
    Plan *plan = plan_new();
    OpError error = {0};
    int x = plan_buffer(plan, BUFFER_INPUT, 0, vector_of(DTYPE_F32, 9)), y = plan_buffer(plan, BUFFER_OUTPUT, 0, vector_of(DTYPE_F32, 4));
    Meta view = vector_of(DTYPE_F32, 4), out = vector_of(DTYPE_F32, 4);
    view.offset = 1, view.strides[0] = 2;
    SymTable *syms = sym_table_new(arena);
    Dim factor = sym_var(syms, "s0", 2, 100, SYM_SIZE);
    plan->size_inputs = 1;
    plan->size_vars = &factor;
    Arg item = arg_tensor(&view, NULL, (void *)(uintptr_t)map_key(x + 1)), args[2] = {{.tag = ARG_TENSORS, .list = {&item, 1}}, arg_int(factor)};
    Launch launch = {.kind = LAUNCH_EXTERN_OP, .name = "extern scale", .op = &op, .args = args, .nargs = 2, .out_metas = &out, .nouts = 1, .buffers = &y, .buffer_count = 1};
    vec_push_in(arena, &plan->launches, launch);
    ck_assert_msg(plan_load(rt, plan, NULL, &error), "%s", error.message);
    float in[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, result[4], expected[4] = {10, 30, 50, 70};
    int64_t size = 10;
    ck_assert(plan_run(rt, plan, (void *[]){in}, NULL, (void *[]){result}, &size, &error));
    ck_assert_mem_eq(result, expected, sizeof result);
    size = 13;
    ck_assert(!plan_run(rt, plan, (void *[]){in}, NULL, (void *[]){result}, &size, &error));
    ck_assert_str_eq(error.message, "thirteen");
}
END_TEST

START_TEST(copies_follow_strides) {
    Runtime *rt = open_runtime("");
    DType dtypes[] = {DTYPE_U8, DTYPE_I16, DTYPE_F32, DTYPE_F64};
    for (int d = 0; d < 4; d++) {
        Plan *plan = plan_new();
        OpError error = {0};
        int64_t size = dtype_size(dtypes[d]);
        Meta src = meta_of(dtypes[d], 3, (Dim[]){2, 3, 4}), dst = src;
        dst.strides[0] = 1, dst.strides[1] = 8, dst.strides[2] = 2, dst.offset = 5; /* rows of 8 with the first dimension innermost */
        if (d == 1) src.strides[1] = 0; /* an expanded source */
        int a = plan_buffer(plan, BUFFER_INPUT, 0, vector_of(dtypes[d], 24)), b = plan_buffer(plan, BUFFER_INPUT, 1, vector_of(dtypes[d], 40)), buffers[2] = {a, b};
        Launch launch = {.kind = LAUNCH_COPY, .name = "copy", .buffers = buffers, .buffer_count = 2, .copy_src = src, .copy_dst = dst};
        vec_push_in(arena, &plan->launches, launch);
        ck_assert(plan_load(rt, plan, NULL, &error));
        unsigned char *in = arena_alloc(arena, 24 * 8), *out = arena_alloc(arena, 40 * 8);
        for (int i = 0; i < 24 * size; i++) in[i] = (unsigned char)(i + 1);
        ck_assert(plan_run(rt, plan, (void *[]){in, out}, NULL, NULL, NULL, &error));
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 4; k++) ck_assert_mem_eq(out + size * (5 + i + 8 * j + 2 * k), in + size * (12 * i + src.strides[1] * j + k), (size_t)size);
        for (int i = 0; i < 5 * size; i++) ck_assert_int_eq(out[i], 0);
    }
}
END_TEST

/* ---- matmul ---- */

static double element_at(DType dtype, const void *data, int64_t i) {
    if (dtype == DTYPE_F64) return ((const double *)data)[i];
    if (dtype == DTYPE_F32) return (double)((const float *)data)[i];
    return (double)(dtype == DTYPE_BF16 ? bf16_to_float(((const uint16_t *)data)[i]) : f16_to_float(((const uint16_t *)data)[i]));
}

static void element_set(DType dtype, void *data, int64_t i, double value) {
    if (dtype == DTYPE_F64) ((double *)data)[i] = value;
    else if (dtype == DTYPE_F32) ((float *)data)[i] = (float)value;
    else ((uint16_t *)data)[i] = dtype == DTYPE_BF16 ? float_to_bf16((float)value) : float_to_f16((float)value);
}

enum { ROOM = 4000 };
typedef struct Sample { MatmulCall call; char *a, *b, *out, *bias, *add; } Sample;

static char *random_data(DType dtype, unsigned *seed) {
    char *data = arena_alloc(arena, ROOM * 8);
    for (int i = 0; i < ROOM; i++) element_set(dtype, data, i, (double)((*seed = *seed * 1664525u + 1013904223u) >> 8) / (1 << 23) - 1);
    return data;
}

/* [batch,] rows, cols with rows or columns together, some space behind each line, and an offset. */
static Meta matrix_meta(DType dtype, int64_t batch, int64_t rows, int64_t cols, bool by_rows, bool shared) {
    Meta meta = meta_of(dtype, 3, (Dim[]){batch, rows, cols});
    int64_t ld = (by_rows ? cols : rows) + 3;
    meta.strides[0] = shared ? 0 : ld * (by_rows ? rows : cols);
    meta.strides[1] = by_rows ? ld : 1;
    meta.strides[2] = by_rows ? 1 : ld;
    meta.offset = 2;
    if (batch == 1) {
        meta.rank = 2;
        for (int i = 0; i < 2; i++) meta.sizes[i] = meta.sizes[i + 1], meta.strides[i] = meta.strides[i + 1];
    }
    return meta;
}

static double at_matrix(const Meta *meta, const void *data, int64_t b, int64_t i, int64_t j) {
    int first = meta->rank - 2;
    return element_at(meta->dtype, data, meta->offset + (meta->rank == 3 ? b * meta->strides[0] : 0) + i * meta->strides[first] + j * meta->strides[first + 1]);
}

static void check_sample(const Sample *s, const char *what) {
    const Meta *out = &s->call.out_meta;
    int64_t batch = out->rank == 3 ? out->sizes[0] : 1, m = out->sizes[out->rank - 2], n = out->sizes[out->rank - 1], k = s->call.a_meta.sizes[s->call.a_meta.rank - 1];
    double tolerance = out->dtype == DTYPE_F64 ? 1e-13 : out->dtype == DTYPE_F32 ? 1e-5 : out->dtype == DTYPE_F16 ? 2e-3 : 1.6e-2;
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t l = 0; l < k; l++) sum += at_matrix(&s->call.a_meta, s->a, b, i, l) * at_matrix(&s->call.b_meta, s->b, b, l, j);
                sum *= s->call.alpha;
                if (s->call.add >= 0) sum += s->call.beta * at_matrix(&s->call.add_meta, s->add, b, i, j);
                if (s->call.epilogue & EPILOGUE_BIAS) sum += element_at(out->dtype, s->bias, s->call.bias_meta.offset + j * s->call.bias_meta.strides[0]);
                if (s->call.epilogue & EPILOGUE_RELU && sum < 0) sum = 0;
                double got = at_matrix(out, s->out, b, i, j);
                ck_assert_msg(fabs(got - sum) <= tolerance * (1 + fabs(sum) + (double)k * 0.1), "%s: [%ld, %ld, %ld] is %g, not %g", what, (long)b, (long)i, (long)j, got, sum);
            }
}

static void run_sample(Runtime *rt, DType dtype, unsigned bits, int64_t batch, int64_t m, int64_t n, int64_t k) {
    static unsigned seed = 1;
    Sample s = {.a = random_data(dtype, &seed), .b = random_data(dtype, &seed), .out = random_data(dtype, &seed), .bias = random_data(dtype, &seed), .add = random_data(dtype, &seed)};
    MatmulCall *call = &s.call;
    *call = (MatmulCall){.a = 0, .b = 1, .out = 2, .bias = bits & 8 ? 3 : -1, .add = bits & 16 ? 4 : -1, .alpha = bits & 16 ? 0.5 : 1, .beta = bits & 16 ? 2 : 0};
    call->epilogue = (bits & 8 ? EPILOGUE_BIAS : 0u) | (bits & 32 ? EPILOGUE_RELU : 0u);
    call->a_meta = matrix_meta(dtype, batch, m, k, bits & 1, false);
    call->b_meta = matrix_meta(dtype, batch, k, n, bits & 2, bits & 64);
    call->out_meta = matrix_meta(dtype, batch, m, n, bits & 4, false);
    call->add_meta = matrix_meta(dtype, batch, m, n, bits & 1, bits & 64);
    call->bias_meta = vector_of(dtype, n);
    call->bias_meta.offset = 1, call->bias_meta.strides[0] = bits & 2 ? 2 : 1;
    OpError error = {0};
    char *what = arena_printf(arena, "%s bits %u batch %ld, %ld x %ld x %ld", dtype_info[dtype].name, bits, (long)batch, (long)m, (long)n, (long)k);
    ck_assert_msg(matmul_run(rt, cpu, call, s.a, s.b, s.out, s.bias, s.add, &error), "%s: %s", what, error.message);
    check_sample(&s, what);
}

START_TEST(matmul_agrees_with_the_definition) {
    Runtime *rt = open_runtime("");
    static const DType dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_BF16, DTYPE_F16};
    static const int64_t shapes[][3] = {{5, 7, 11}, {1, 9, 4}, {6, 1, 3}, {1, 1, 1}, {3, 2, 0}, {0, 4, 2}, {16, 16, 16}};
    for (int d = 0; d < 4; d++)
        for (unsigned bits = 0; bits < 128; bits++)
            for (int i = 0; i < 7; i++) run_sample(rt, dtypes[d], bits, bits & 64 || i % 2 ? 3 : 1, shapes[i][0], shapes[i][1], shapes[i][2]);
}
END_TEST

START_TEST(matmul_refuses_what_blas_cannot) {
    Runtime *rt = open_runtime("");
    const char *why = NULL;
    MatmulCall good = {.bias = -1, .add = -1, .alpha = 1, .a_meta = matrix_meta(DTYPE_F32, 1, 3, 4, true, false), .b_meta = matrix_meta(DTYPE_F32, 1, 4, 5, true, false), .out_meta = matrix_meta(DTYPE_F32, 1, 3, 5, true, false)};
    ck_assert(matmul_supports(rt, cpu, &good, &why));
    MatmulCall call = good;
    call.a_meta.strides[0] = 0; /* an expanded matrix: rows overlap */
    ck_assert(!matmul_supports(rt, cpu, &call, &why));
    call = good;
    call.a_meta.strides[1] = 2;
    ck_assert(!matmul_supports(rt, cpu, &call, &why));
    call = good;
    call.a_meta.dtype = call.b_meta.dtype = call.out_meta.dtype = DTYPE_I64;
    ck_assert(!matmul_supports(rt, cpu, &call, &why));
    ck_assert_ptr_nonnull(strstr(why, "integer"));
    call = good;
    call.b_meta.sizes[0] = 5;
    OpError error = {0};
    ck_assert(!matmul_run(rt, cpu, &call, NULL, NULL, NULL, NULL, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "do not fit"));
    call = good;
    call.epilogue = EPILOGUE_GELU_TANH;
    ck_assert(!matmul_supports(rt, cpu, &call, &why));
}
END_TEST

START_TEST(c_kernels_show_their_assembly) {
    Runtime *rt = open_runtime("");
    const char *text = NULL;
    ck_assert(kernel_disassemble(rt, kernel_new("fused_add_0", add_one), "asm", arena, &text));
    ck_assert_ptr_nonnull(strstr(text, "fused_add_0:"));
    ck_assert(!kernel_disassemble(rt, kernel_new("fused_add_0", add_one), "ptx", arena, &text));
}
END_TEST

int main(void) {
    const TTest *tests[] = {
        plan_runs_kernels_over_a_temporary, plans_outlive_neither_runtime_nor_arena, kernels_come_from_the_disk_the_second_time, bypassed_caches_compile_again,
        damaged_code_is_compiled_again, processes_compile_the_same_plan_at_once, many_kernels_and_clashing_helpers,
        a_bad_kernel_names_the_users_line, a_missing_compiler_is_one_clear_error, an_interrupt_ends_the_compiler,
        an_unaligned_pointer_takes_the_scalar_twin, symbolic_sizes_reach_kernels_and_temporaries, dimcode_agrees_with_the_expressions,
        extern_ops_get_views_of_buffers, copies_follow_strides, matmul_agrees_with_the_definition, matmul_refuses_what_blas_cannot,
        c_kernels_show_their_assembly,
    };
    return UNIT_RUN("run_plan", tests, open_all, close_all);
}
