/* Tests of engine/run on a card: tests/gpu/run_gpu [--table] [cuda index]; exit 77 where there is none.
 *
 * Prints a line a check, "ok NAME" or "FAIL NAME: why", and the numbers that say how fast things are. --table prints cuBLASLt's TFLOP/s besides.
 * Invariant: everything is compared with the CPU's own answer, never with another answer of the card. */
#include "run/half.h"
#include "run/private.h"
#include "run/runtime.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Device cpu = {DEVICE_CPU, 0};
typedef struct Bench { Runtime *rt; Arena *arena; Device card; int failures, checks; uint32_t seed; } Bench;

static void note(void *state, const char *text) {
    (void)state;
    printf("note: %s\n", text);
}

static bool check(Bench *t, bool good, const char *name, const char *why) {
    t->checks++;
    t->failures += !good;
    if (good) printf("ok %s\n", name);
    else printf("FAIL %s: %s\n", name, why && *why ? why : "wrong result");
    fflush(stdout);
    return good;
}

static float next_random(Bench *t) { return (float)((t->seed = t->seed * 1664525u + 1013904223u) >> 8) / (float)(1 << 23) - 1; }

static Storage *on_card(Bench *t, const void *data, int64_t bytes) {
    OpError error;
    Storage *s = storage_new(t->rt, t->card, bytes);
    if (!s) {
        printf("FAIL out of card memory: %lld bytes\n", (long long)bytes);
        exit(1);
    }
    if (data && !device_copy(t->rt, s->data, t->card, data, cpu, bytes, &error)) printf("FAIL copy to the card: %s\n", error.message);
    return s;
}

static void from_card(Bench *t, void *data, const Storage *s) {
    OpError error;
    if (!device_copy(t->rt, data, cpu, s->data, t->card, s->bytes, &error)) check(t, false, "copy from the card", error.message);
}

/* ---- memory ---- */

static void test_memory(Bench *t) {
    enum { N = 3000001 };
    char *data = malloc(N), *back = calloc(1, N);
    OpError error = {0};
    for (int i = 0; i < N; i++) data[i] = (char)(i * 7);
    Storage *a = on_card(t, data, N), *b = storage_new(t->rt, t->card, N);
    check(t, ((uintptr_t)a->data & 255) == 0, "storage on the card is aligned to 256 bytes", NULL);
    check(t, device_copy(t->rt, b->data, t->card, a->data, t->card, N, &error), "copy within the card", error.message);
    from_card(t, back, b);
    check(t, memcmp(data, back, N) == 0, "bytes survive the way to the card, within it and back", NULL);
    device_fill(t->rt, t->card, b->data, 0x5a, N);
    from_card(t, back, b);
    check(t, back[0] == 0x5a && back[N - 1] == 0x5a, "fill", NULL);
    void *old = b->data;
    storage_unref(b);
    Storage *again = storage_new(t->rt, t->card, N - 3);
    check(t, again->data == old, "a freed block is used again", NULL);
    check(t, storage_new(t->rt, t->card, INT64_C(1) << 48) == NULL, "too large a request is refused", NULL);
    check(t, storage_new(t->rt, (Device){DEVICE_CUDA, 99}, 4) == NULL, "a card that is not there is refused", NULL);
    check(t, device_synchronize(t->rt, t->card, &error), "the card still works after the refusals", error.message);
    storage_unref(again);
    storage_unref(a);
    free(data);
    free(back);
}

/* ---- plans ---- */

static Meta vector_meta(Bench *t, DType dtype, Dim n) { return meta_new(dtype, t->card, 1, &n); }

static int add_buffer(Plan *plan, BufferRole role, int index, Meta meta, int64_t offset) {
    Buffer buffer = {.name = "buf", .role = role, .index = index, .meta = meta, .offset = offset, .reuses = -1};
    vec_push_in(plan->arena, &plan->buffers, buffer);
    return plan->buffers.count - 1;
}

static void add_kernel(Plan *plan, const Kernel *kernel, int from, int to, const Dim *size) {
    int *buffers = ARENA_ARRAY(plan->arena, int, 2);
    buffers[0] = from, buffers[1] = to;
    bool known = false;
    for (int i = 0; i < plan->kernels.count; i++) known = known || plan->kernels.at[i] == kernel;
    if (!known) vec_push_in(plan->arena, &plan->kernels, kernel);
    Launch launch = {.kind = LAUNCH_KERNEL, .name = kernel->entry, .kernel = kernel, .buffers = buffers, .buffer_count = 2, .sizes = size, .size_count = 1};
    vec_push_in(plan->arena, &plan->launches, launch);
}

static Plan *new_plan(Bench *t) {
    Plan *plan = ARENA_NEW(t->arena, Plan);
    *plan = (Plan){.arena = t->arena, .device = t->card, .name = "forward"};
    return plan;
}

/* y = 2 x, four elements a thread with 16-byte accesses; the twin does one. */
static Kernel *scale_kernel(Bench *t, Dim n, bool vector) {
    Kernel *k = ARENA_NEW(t->arena, Kernel);
    *k = (Kernel){.name = vector ? "k0" : "k0_scalar", .entry = vector ? "scale_0" : "scale_scalar_0", .language = KERNEL_CUDA, .pointer_count = 2, .size_count = 1, .block = {256, 1, 1}, .grid = {0, 1, 1}};
    k->grid[0] = (n / (vector ? 4 : 1) + 255) / 256;
    k->source = vector ? "struct alignas(16) F4 { float v[4]; };\nextern \"C\" __global__ void scale_0(const float *x, float *y, long n) {\n    long i = blockIdx.x * 256l + threadIdx.x;\n    if (i * 4 >= n) return;\n    F4 a = ((const F4 *)x)[i];\n"
                         "    for (int j = 0; j < 4; j++) a.v[j] *= 2.0f;\n    ((F4 *)y)[i] = a;\n}\n"
                       : "extern \"C\" __global__ void scale_scalar_0(const float *x, float *y, long n) {\n    long i = blockIdx.x * 256l + threadIdx.x;\n    if (i < n) y[i] = 2.0f * x[i];\n}\n";
    return k;
}

static Kernel *vector_kernel(Bench *t, Dim n) {
    Kernel *k = scale_kernel(t, n, true);
    k->vector_bytes = 16;
    k->scalar_twin = scale_kernel(t, n, false);
    return k;
}

enum { COUNT = 1 << 20 };

static bool all_scaled(Bench *t, const Storage *out, const float *in, float factor, int64_t skip) {
    float *back = malloc((size_t)out->bytes);
    from_card(t, back, out);
    bool good = true;
    for (int i = 0; i < COUNT && good; i++) good = back[i + skip] == in[i] * factor;
    free(back);
    return good;
}

/* y = 2 * (2 * x) through a temporary: run, run unaligned, profile, replay as a graph. */
static void test_plan(Bench *t) {
    Plan *plan = new_plan(t);
    OpError error = {0};
    CompileReport report;
    Dim *n = ARENA_NEW(t->arena, Dim);
    *n = COUNT;
    Kernel *kernel = vector_kernel(t, COUNT);
    int x = add_buffer(plan, BUFFER_INPUT, 0, vector_meta(t, DTYPE_F32, COUNT), 0), y = add_buffer(plan, BUFFER_OUTPUT, 0, vector_meta(t, DTYPE_F32, COUNT), 0), tmp = add_buffer(plan, BUFFER_TEMPORARY, 0, vector_meta(t, DTYPE_F32, COUNT), 256);
    plan->block_bytes = COUNT * 4 + 256;
    add_kernel(plan, kernel, x, tmp, n);
    add_kernel(plan, kernel, tmp, y, n);
    if (!check(t, plan_load(t->rt, plan, &report, &error), "a plan is loaded", error.message)) return;
    float *in = malloc(COUNT * 4);
    for (int i = 0; i < COUNT; i++) in[i] = next_random(t);
    Storage *sx = on_card(t, in, COUNT * 4), *sy = storage_new(t->rt, t->card, COUNT * 4 + 16);
    check(t, plan_run(t->rt, plan, &sx->data, NULL, &sy->data, NULL, &error) && all_scaled(t, sy, in, 4, 0), "a plan of two kernels over a temporary", error.message);
    void *unaligned = (float *)sy->data + 1;
    check(t, plan_run(t->rt, plan, &sx->data, NULL, &unaligned, NULL, &error) && all_scaled(t, sy, in, 4, 1), "an unaligned output takes the scalar twin", error.message);
    LaunchTime times[2];
    check(t, plan_profile(t->rt, plan, &sx->data, NULL, &sy->data, NULL, times, &error) && times[1].length_us > 0 && times[1].start_us > 0, "launches are timed by events", error.message);
    printf("   launches: %.2f us at %.2f, %.2f us at %.2f\n", times[0].length_us, times[0].start_us, times[1].length_us, times[1].start_us);
    runtime_replay_graphs(t->rt, true);
    bool good = true;
    for (int i = 0; i < 6 && good; i++) {
        device_fill(t->rt, t->card, sy->data, 0, sy->bytes);
        good = plan_run(t->rt, plan, &sx->data, NULL, i % 2 ? &sy->data : &unaligned, NULL, &error) && all_scaled(t, sy, in, 4, i % 2 ? 0 : 1);
    }
    check(t, good, "a replayed graph writes where this run says", error.message);
    runtime_replay_graphs(t->rt, false);
    plan_unload(t->rt, plan);
    storage_unref(sx);
    storage_unref(sy);
    free(in);
}

/* Host time of plan_run: many tiny launches, with and without a graph. */
static void test_overhead(Bench *t) {
    enum { LAUNCHES = 20, RUNS = 2000 };
    Plan *plan = new_plan(t);
    OpError error = {0};
    Dim *n = ARENA_NEW(t->arena, Dim);
    *n = 1024;
    Kernel *kernel = vector_kernel(t, 1024);
    int x = add_buffer(plan, BUFFER_INPUT, 0, vector_meta(t, DTYPE_F32, 1024), 0), y = add_buffer(plan, BUFFER_OUTPUT, 0, vector_meta(t, DTYPE_F32, 1024), 0);
    for (int i = 0; i < LAUNCHES; i++) add_kernel(plan, kernel, x, y, n);
    if (!check(t, plan_load(t->rt, plan, NULL, &error), "a plan of 20 launches is loaded", error.message)) return;
    Storage *sx = on_card(t, NULL, 4096), *sy = on_card(t, NULL, 4096);
    for (int graph = 0; graph < 2; graph++) {
        runtime_replay_graphs(t->rt, graph);
        double best = 1e30, device = 1e30;
        for (int r = 0; r < RUNS; r++) {
            if (r % 16 == 0) device_synchronize(t->rt, t->card, &error);
            DeviceTimer *timer = r % 16 == 0 ? timer_start(t->rt, t->card) : NULL;
            double start = clock_us();
            plan_run(t->rt, plan, &sx->data, NULL, &sy->data, NULL, &error);
            double us = clock_us() - start;
            if (us < best) best = us;
            double total = timer ? timer_stop_us(timer) : 1e30;
            if (total < device) device = total;
        }
        printf("   %d launches %s: host %.2f us a run, %.2f us a launch; device %.2f us\n", LAUNCHES, graph ? "as a graph" : "one by one", best, best / LAUNCHES, device);
    }
    runtime_replay_graphs(t->rt, false);
    plan_unload(t->rt, plan);
    storage_unref(sx);
    storage_unref(sy);
}

static bool run_negate(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)op, (void)context, (void)error, (void)nargs, (void)nouts;
    for (int64_t i = 0; i < meta_numel(args[0].tensor.meta); i++) ((float *)outs[0].tensor.data)[i] = -((const float *)args[0].tensor.data)[i];
    return true;
}

/* An op without a kernel (through the host), then a strided copy. */
static void test_extern_and_copy(Bench *t) {
    static const FamilyOps family = {.run_cpu = run_negate};
    Op op = {.name = "negate", .family_ops = &family, .outputs = 1};
    Plan *plan = new_plan(t);
    OpError error = {0};
    Meta meta = meta_new(DTYPE_F32, t->card, 2, (Dim[]){30, 50}), turned = meta_new(DTYPE_F32, t->card, 2, (Dim[]){30, 50});
    turned.strides[0] = 1, turned.strides[1] = 30;
    int x = add_buffer(plan, BUFFER_INPUT, 0, meta, 0), y = add_buffer(plan, BUFFER_OUTPUT, 0, meta, 0), tmp = add_buffer(plan, BUFFER_TEMPORARY, 0, meta, 0);
    plan->block_bytes = 30 * 50 * 4;
    Arg arg = arg_tensor(&meta, NULL, (void *)(uintptr_t)map_key(x + 1));
    Launch launches[2] = {{.kind = LAUNCH_EXTERN_OP, .name = "extern negate", .op = &op, .args = &arg, .nargs = 1, .out_metas = &meta, .nouts = 1, .buffers = &tmp, .buffer_count = 1},
                          {.kind = LAUNCH_COPY, .name = "copy", .buffers = (int[]){tmp, y}, .buffer_count = 2, .copy_src = meta, .copy_dst = turned}};
    for (int i = 0; i < 2; i++) vec_push_in(t->arena, &plan->launches, launches[i]);
    float in[1500], back[1500];
    for (int i = 0; i < 1500; i++) in[i] = next_random(t);
    Storage *sx = on_card(t, in, sizeof in), *sy = storage_new(t->rt, t->card, sizeof in);
    bool good = plan_load(t->rt, plan, NULL, &error) && plan_run(t->rt, plan, &sx->data, NULL, &sy->data, NULL, &error);
    from_card(t, back, sy);
    for (int i = 0; i < 30 && good; i++)
        for (int j = 0; j < 50; j++) good = good && back[j * 30 + i] == -in[i * 50 + j];
    check(t, good, "an op through the host and a strided copy", error.message);
    plan_unload(t->rt, plan);
    storage_unref(sx);
    storage_unref(sy);
}

/* ---- matmul ---- */

static void put_element(DType dtype, void *data, int64_t i, float value) {
    if (dtype == DTYPE_F64) ((double *)data)[i] = (double)value;
    else if (dtype == DTYPE_F32) ((float *)data)[i] = value;
    else ((uint16_t *)data)[i] = dtype == DTYPE_BF16 ? float_to_bf16(value) : float_to_f16(value);
}

static double get_element(DType dtype, const void *data, int64_t i) {
    if (dtype == DTYPE_F64) return ((const double *)data)[i];
    if (dtype == DTYPE_F32) return (double)((const float *)data)[i];
    return (double)(dtype == DTYPE_BF16 ? bf16_to_float(((const uint16_t *)data)[i]) : f16_to_float(((const uint16_t *)data)[i]));
}

static Meta matrix_meta(DType dtype, Device device, int64_t batch, int64_t rows, int64_t cols, bool by_rows, bool shared, int64_t gap) {
    Meta meta = meta_new(dtype, device, 3, (Dim[]){batch, rows, cols});
    int64_t ld = (by_rows ? cols : rows) + gap;
    meta.strides[0] = shared ? 0 : ld * (by_rows ? rows : cols);
    meta.strides[1] = by_rows ? ld : 1;
    meta.strides[2] = by_rows ? 1 : ld;
    meta.offset = gap;
    return meta;
}

enum { A, B, OUT, BIAS, ADD, OPERANDS };

static double gelu_tanh(double x) { return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

typedef struct Case { MatmulCall call; int64_t bytes[OPERANDS]; void *host[OPERANDS]; } Case;

/* Random, and from some size on the same again and again: the host is slower at this than the card at what follows. */
static void fill_random(Bench *t, DType dtype, void *data, int64_t count) {
    int64_t period = (1 << 18) + 7, size = dtype_size(dtype), fresh = count < period ? count : period;
    for (int64_t i = 0; i < fresh; i++) put_element(dtype, data, i, next_random(t));
    for (int64_t i = fresh; i < count; i += period) memcpy((char *)data + i * size, data, (size_t)((count - i < period ? count - i : period) * size));
}

static void case_make(Bench *t, Case *c, DType dtype, unsigned bits, int64_t batch, int64_t m, int64_t n, int64_t k, int64_t gap) {
    MatmulCall *call = &c->call;
    memset(c, 0, sizeof *c);
    *call = (MatmulCall){.a = A, .b = B, .out = OUT, .bias = bits & 8 ? BIAS : -1, .add = bits & 16 ? ADD : -1, .alpha = bits & 16 ? 0.5 : 1, .beta = bits & 16 ? 2 : 0};
    call->epilogue = (bits & 8 ? EPILOGUE_BIAS : 0u) | (bits & 32 ? EPILOGUE_RELU : 0u) | (bits & 64 ? EPILOGUE_GELU_TANH : 0u);
    call->a_meta = matrix_meta(dtype, t->card, batch, m, k, bits & 1, false, gap);
    call->b_meta = matrix_meta(dtype, t->card, batch, k, n, bits & 2, bits & 128, gap);
    call->out_meta = matrix_meta(dtype, t->card, batch, m, n, bits & 4, false, gap);
    call->add_meta = matrix_meta(dtype, t->card, batch, m, n, bits & 1, bits & 128, gap);
    call->bias_meta = vector_meta(t, dtype, n);
    const Meta *metas[OPERANDS] = {&call->a_meta, &call->b_meta, &call->out_meta, &call->bias_meta, &call->add_meta};
    for (int i = 0; i < OPERANDS; i++) {
        int64_t count = meta_storage_span(metas[i]);
        c->bytes[i] = count * dtype_size(dtype);
        c->host[i] = malloc((size_t)c->bytes[i]);
        fill_random(t, dtype, c->host[i], count);
    }
}

/* The host's answer: everything but gelu is BLAS's, which the unit tests hold to the definition. */
static bool host_answer(Case *c, OpError *error) {
    MatmulCall call = c->call;
    call.epilogue &= ~(unsigned)EPILOGUE_GELU_TANH;
    if (!blas_matmul(&call, c->host[A], c->host[B], c->host[OUT], c->host[BIAS], c->host[ADD], error)) return false;
    const Meta *out = &c->call.out_meta;
    for (int64_t i = 0; i < meta_numel(out) && (c->call.epilogue & EPILOGUE_GELU_TANH); i++) {
        int64_t cols = out->sizes[2], rows = out->sizes[1], at = out->offset + i / (rows * cols) * out->strides[0] + i / cols % rows * out->strides[1] + i % cols * out->strides[2];
        put_element(out->dtype, c->host[OUT], at, (float)gelu_tanh(get_element(out->dtype, c->host[OUT], at)));
    }
    return true;
}

static bool case_run(Bench *t, Case *c, bool tf32, double *worst, OpError *error) {
    Storage *s[OPERANDS];
    for (int i = 0; i < OPERANDS; i++) s[i] = on_card(t, c->host[i], c->bytes[i]);
    bool good = matmul_run(t->rt, t->card, &c->call, s[A]->data, s[B]->data, s[OUT]->data, s[BIAS]->data, s[ADD]->data, error);
    void *got = malloc((size_t)c->bytes[OUT]);
    from_card(t, got, s[OUT]);
    good = good && host_answer(c, error);
    DType dtype = c->call.out_meta.dtype;
    double k = (double)c->call.a_meta.sizes[2], unit = dtype == DTYPE_F64 ? 1e-13 : dtype == DTYPE_F32 ? (tf32 ? 2e-3 : 2e-6) : dtype == DTYPE_F16 ? 2e-3 : 1.6e-2;
    *worst = 0;
    for (int64_t i = 0; i < c->bytes[OUT] / dtype_size(dtype) && good; i++) {
        double x = get_element(dtype, got, i), y = get_element(dtype, c->host[OUT], i), off = fabs(x - y) / (unit * (1 + fabs(y) + sqrt(k)));
        if (!(off <= *worst)) *worst = off;
    }
    free(got);
    for (int i = 0; i < OPERANDS; i++) {
        storage_unref(s[i]);
        free(c->host[i]);
    }
    return good && *worst <= 1;
}

static void test_matmul(Bench *t, DType dtype, bool tf32, bool tune) {
    static const int64_t shapes[][4] = {{1, 64, 48, 80}, {3, 33, 17, 40}, {2, 128, 256, 64}, {1, 1, 72, 64}, {4, 8, 8, 8}};
    int ran = 0, refused = 0;
    double worst = 0, off;
    char name[200], why[700] = "";
    runtime_allow_tf32(t->rt, tf32);
    runtime_tune_matmul(t->rt, tune);
    for (unsigned bits = 0; bits < 256; bits++)
        for (int i = 0; i < 5; i++)
            for (int64_t gap = 0; gap <= 8; gap += 4) {
                Case c;
                OpError error = {0};
                const char *reason;
                if (tune && (bits % 13 || gap)) continue;
                case_make(t, &c, dtype, bits, shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3], gap);
                if (!matmul_supports(t->rt, t->card, &c.call, &reason)) {
                    refused++;
                    for (int o = 0; o < OPERANDS; o++) free(c.host[o]);
                    continue;
                }
                ran++;
                if (!case_run(t, &c, tf32, &off, &error) && !*why) snprintf(why, sizeof why, "bits %u shape %d gap %d: %.1f times the tolerance %s", bits, i, (int)gap, off, error.message);
                if (off > worst) worst = off;
            }
    snprintf(name, sizeof name, "matmul %s%s%s: %d calls (%d refused), worst %.2f of the tolerance", dtype_info[dtype].name, tf32 ? " tf32" : "", tune ? " tuned" : "", ran, refused, worst);
    check(t, !*why, name, why);
    runtime_allow_tf32(t->rt, false);
    runtime_tune_matmul(t->rt, false);
}

/* ---- speed ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median of 15 on random data (zeros run faster than anything real). */
static double matmul_us(Bench *t, DType dtype, int64_t size, unsigned bits) {
    enum { RUNS = 15 };
    double times[RUNS];
    OpError error = {0};
    Case c;
    case_make(t, &c, dtype, bits, 1, size, size, size, 0);
    Storage *s[OPERANDS];
    for (int i = 0; i < OPERANDS; i++) s[i] = on_card(t, c.host[i], c.bytes[i]);
    for (int i = -3; i < RUNS; i++) {
        DeviceTimer *timer = timer_start(t->rt, t->card);
        if (!matmul_run(t->rt, t->card, &c.call, s[A]->data, s[B]->data, s[OUT]->data, s[BIAS]->data, s[ADD]->data, &error)) check(t, false, "a timed matmul", error.message);
        double us = timer_stop_us(timer);
        if (i >= 0) times[i] = us;
    }
    for (int i = 0; i < OPERANDS; i++) {
        storage_unref(s[i]);
        free(c.host[i]);
    }
    qsort(times, RUNS, sizeof *times, compare_doubles);
    return times[RUNS / 2];
}

static void print_table(Bench *t) {
    static const struct { DType dtype; bool tf32; unsigned bits; const char *what; } rows[] = {
        {DTYPE_BF16, false, 7, "bf16 A B"}, {DTYPE_BF16, false, 5, "bf16 A B^T"}, {DTYPE_BF16, false, 6, "bf16 A^T B"}, {DTYPE_BF16, false, 15, "bf16 bias"}, {DTYPE_BF16, false, 47, "bf16 bias relu"}, {DTYPE_BF16, false, 79, "bf16 bias gelu"},
        {DTYPE_BF16, false, 23, "bf16 + C"}, {DTYPE_F16, false, 7, "f16 A B"}, {DTYPE_F32, true, 7, "tf32 A B"}, {DTYPE_F32, false, 7, "f32 A B"}, {DTYPE_F64, false, 7, "f64 A B"},
    };
    printf("TFLOP/s %22s %8s %8s %8s   tuned: %8s %8s %8s\n", "", "1024", "4096", "8192", "1024", "4096", "8192");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        runtime_allow_tf32(t->rt, rows[r].tf32);
        printf("        %-22s", rows[r].what);
        for (int tune = 0; tune < 2; tune++) {
            runtime_tune_matmul(t->rt, tune);
            if (tune) printf("          ");
            for (int64_t size = 1024; size <= 8192; size = size == 1024 ? 4096 : size * 2) {
                bool slow = size == 8192 && (rows[r].dtype == DTYPE_F64 || (rows[r].dtype == DTYPE_F32 && !rows[r].tf32));
                if (slow) printf(" %8s", "-");
                else printf(" %8.1f", 2.0 * (double)size * (double)size * (double)size / matmul_us(t, rows[r].dtype, size, rows[r].bits) / 1e6);
                fflush(stdout);
            }
        }
        printf("\n");
    }
    runtime_allow_tf32(t->rt, false);
    runtime_tune_matmul(t->rt, false);
}

static void test_timing(Bench *t) {
    DeviceFacts facts;
    check(t, device_facts(t->rt, t->card, &facts, true) && facts.copy_gbs > 1, "facts and copy bandwidth", NULL);
    printf("   %s, %s, %d SMs, %.0f GiB, L2 %d MiB, shared %d KiB a block: copy %.0f GB/s (read + write)\n", facts.name, cuda_arch(t->rt), facts.sm_count, (double)facts.memory_bytes / (1 << 30), facts.l2_bytes >> 20,
           facts.shared_per_block >> 10, facts.copy_gbs);
    device_flush_cache(t->rt, t->card);
    DeviceTimer *timer = timer_start(t->rt, t->card);
    double us = timer_stop_us(timer);
    check(t, us >= 0 && us < 1000, "an empty region takes no time", NULL);
}

int main(int count, char **arguments) {
    bool table = count > 1 && strcmp(arguments[1], "--table") == 0;
    Arena *arena = arena_new("gpu");
    Bench t = {.arena = arena, .card = {DEVICE_CUDA, count > 1 + table ? atoi(arguments[1 + table]) : 0}, .seed = 1};
    const char *why;
    t.rt = runtime_new(arena, &(RuntimeOptions){.cache_dir = "", .warn = note});
    if (!cuda_available(t.rt, &why)) {
        printf("skipped: %s\n", why);
        arena_free(arena);
        return 77;
    }
    Text versions = {0};
    runtime_versions(t.rt, &versions);
    fputs(text_cstr(&versions), stdout);
    text_free(&versions);
    test_memory(&t);
    test_timing(&t);
    test_plan(&t);
    test_overhead(&t);
    test_extern_and_copy(&t);
    static const DType dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_BF16, DTYPE_F16};
    for (int i = 0; i < 4; i++) test_matmul(&t, dtypes[i], false, false);
    test_matmul(&t, DTYPE_F32, true, false);
    test_matmul(&t, DTYPE_BF16, false, true);
    if (table) print_table(&t);
    printf("%d checks, %d failed\n", t.checks, t.failures);
    arena_free(arena);
    return t.failures ? 1 : 0;
}
