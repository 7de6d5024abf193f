/* Gen CUDA: ops that are no loop of independent elements, as one kernel each, where on the CPU the plan calls the eager kernel: scans along a dim, and
 * sorting along a dim as far as a line fits a block's shared memory, and searches in sorted lines.
 *
 * In: a loop that calls an op. Out: its kernel, or false: then it goes through the host.
 *
 *     cumsum(f32[4096, 1000], 1)    lines of 1000: a block a line, chunks of 1024 joined by shuffles, the total carried on
 *     cumsum(f32[1000, 4096], 0)    lines side by side: a thread a line
 *     sort(f32[64, 500])            a block a line: bitonic network over (value, place) in shared memory
 *     searchsorted(f32[500], f32[8, 9])    a thread a value: bisection
 *
 * Sizes and strides are arguments, so a kernel's text depends on dtypes, rank and the length's power of two alone.
 * A scan's totals are doubles or 64-bit integers, as on the CPU; which parts are joined first depends on the length alone.
 * Invariant: equal values keep their order. To add one: a writer here, its line in generate_cuda_call. */
#include "inductor/gen.h"
#include "inductor/gen_cuda_call.h"
#include "op/family.h"
#include <string.h>

typedef struct Lines { int dim, others; Dim length, step[3], count; Dim sizes[MAX_RANK], strides[3][MAX_RANK], offset[3]; } Lines; /* [0]: the input, [1] and [2]: the outputs */

typedef struct CallMaker { Compile *c; const Lowered *l; const Loop *loop; const char *name; Text text; Lines lines; VEC(Dim) sizes; } CallMaker;

static const Meta *input_meta(const Loop *loop) { return loop->args[0].tensor.meta; }
static int tensor_count(const Loop *loop) { return loop->nargs > 1 && loop->args[1].tag == ARG_TENSOR ? 2 : 1; }

static void lines_of_meta(Lines *lines, int which, const Meta *meta, int dim) {
    int place = 0;
    lines->offset[which] = meta->offset;
    lines->step[which] = meta->rank ? meta->strides[dim] : 1;
    for (int i = 0; i < meta->rank; i++)
        if (i != dim) lines->strides[which][place++] = meta->strides[i];
}

static bool find_lines(CallMaker *m) {
    const Meta *input = input_meta(m->loop);
    Lines *lines = &m->lines;
    SymTable *syms = m->c->syms;
    const Arg *dim = op_arg(m->loop->op, m->loop->args, "dim");
    if (dim->tag != ARG_INT || !dim_is_int(dim->i)) return false;
    lines->dim = input->rank == 0 ? 0 : (int)(dim->i < 0 ? dim->i + input->rank : dim->i);
    lines->length = input->rank ? input->sizes[lines->dim] : 1;
    lines->count = 1;
    for (int i = 0; i < input->rank; i++) {
        if (i == lines->dim) continue;
        lines->sizes[lines->others++] = input->sizes[i];
        lines->count = dim_mul(syms, lines->count, input->sizes[i]);
    }
    lines_of_meta(lines, 0, input, lines->dim);
    for (int i = 0; i < m->loop->nouts && i < 2; i++) lines_of_meta(lines, i + 1, &m->loop->out_metas[i], lines->dim);
    return true;
}

/* ---- parameters ---- */
static void line_out(CallMaker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line_out(CallMaker *m, const char *format, ...) {
    va_list list;
    va_start(list, format);
    text_vprintf(&m->text, format, list);
    va_end(list);
    text_char(&m->text, '\n');
}

static const char *size_param(CallMaker *m, Dim d) {
    vec_push_in(m->c->arena, &m->sizes, d);
    return arena_printf(m->c->arena, "s%d", m->sizes.count - 1);
}

/* The signature's sizes in the order in which the body names them: so the body is written first. */
static void put_signature(CallMaker *m, int threads, const char *body) {
    const Meta *input = input_meta(m->loop);
    line_out(m, "extern \"C\" __global__ void __launch_bounds__(%d) %s(const %s *in", threads, m->name, dtype_info[input->dtype].c_type);
    if (tensor_count(m->loop) > 1) line_out(m, "    , const %s *searched", dtype_info[m->loop->args[1].tensor.meta->dtype].c_type);
    for (int i = 0; i < m->loop->nouts; i++) line_out(m, "    , %s *out%d", dtype_info[m->loop->out_metas[i].dtype].c_type, i);
    for (int i = 0; i < m->sizes.count; i++) line_out(m, "    , const long s%d", i);
    line_out(m, ") {\n%s}", body);
}

/* Where a line begins: `from` in the input, `to0` and `to1` in the outputs, from its number `line`. */
static void put_line_start(CallMaker *m) {
    const Lines *lines = &m->lines;
    line_out(m, "    long rest = line, from = %s;", size_param(m, lines->offset[0]));
    for (int o = 0; o < m->loop->nouts; o++) line_out(m, "    long to%d = 0;", o);
    for (int i = lines->others - 1; i >= 0; i--) {
        const char *size = size_param(m, lines->sizes[i]);
        line_out(m, "    { const long at = rest %% %s; rest /= %s; from += at * %s;", size, size, size_param(m, lines->strides[0][i]));
        for (int o = 0; o < m->loop->nouts; o++) line_out(m, "      to%d += at * %s;", o, size_param(m, lines->strides[o + 1][i]));
        line_out(m, "    }");
    }
}

static const char *loaded_text(CallMaker *m, DType compute, const char *element) {
    DType stored = input_meta(m->loop)->dtype;
    Text load = {0}, cast = {0};
    scalar_load_print(&load, TARGET_CUDA, stored, element);
    scalar_cast_print(&cast, TARGET_CUDA, dtype_info[stored].compute, compute, text_cstr(&load));
    const char *text = text_in(&cast, m->c->arena);
    text_free(&load), text_free(&cast);
    return text;
}

static const char *stored_text(CallMaker *m, int which, DType compute, const char *value) {
    DType stored = m->loop->out_metas[which].dtype;
    Text cast = {0}, store = {0};
    scalar_cast_print(&cast, TARGET_CUDA, compute, dtype_info[stored].compute, value);
    scalar_store_print(&store, TARGET_CUDA, stored, text_cstr(&cast));
    const char *text = text_in(&store, m->c->arena);
    text_free(&cast), text_free(&store);
    return text;
}

/* ---- scans ---- */
static const char *join_text(CallMaker *m, bool is_float) {
    const char *word = m->loop->op->shared;
    if (strcmp(word, "sum") == 0) return is_float ? "a.value + b.value" : "(long)((unsigned long)a.value + (unsigned long)b.value)";
    if (strcmp(word, "prod") == 0) return is_float ? "a.value * b.value" : "(long)((unsigned long)a.value * (unsigned long)b.value)";
    if (strcmp(word, "logsumexp") == 0) return "high != high || low != low ? high + low : high - high != 0 ? high : high + log1p(exp(low - high))";
    return NULL;
}

/* b stands behind a. Of equals the later one wins, and a NaN wins over everything before it. */
static void put_join(CallMaker *m, bool is_float, bool places) {
    const char *join = join_text(m, is_float), *type = is_float ? "double" : "long";
    line_out(m, "struct %s_value { %s value;%s };", m->name, type, places ? " long at;" : "");
    line_out(m, "static __device__ __forceinline__ %s_value %s_join(%s_value a, %s_value b) {", m->name, m->name, m->name, m->name);
    if (!join) {
        const char *sign = strcmp(m->loop->op->shared, "max") == 0 ? ">=" : "<=";
        line_out(m, "    return b.value %s a.value || b.value != b.value ? b : a;", sign);
    } else {
        if (strstr(join, "high")) line_out(m, "    const double high = a.value > b.value ? a.value : b.value, low = a.value > b.value ? b.value : a.value;");
        line_out(m, "    a.value = %s;\n    return a;", join);
    }
    line_out(m, "}");
    line_out(m, "static __device__ __forceinline__ %s_value %s_up(%s_value v, int o) { %s_value u; u.value = __shfl_up_sync(0xffffffffu, v.value, o);%s return u; }", m->name, m->name, m->name, m->name,
             places ? " u.at = __shfl_up_sync(0xffffffffu, v.at, o);" : "");
}

typedef struct ScanTexts { DType compute; bool places; const char *load, *store, *store_place, *step_in, *step0, *step1; } ScanTexts;

static ScanTexts scan_texts(CallMaker *m, bool is_float, bool places, const char *at) {
    ScanTexts t = {.compute = is_float ? DTYPE_F64 : DTYPE_I64, .places = places};
    t.step_in = size_param(m, m->lines.step[0]);
    t.step0 = size_param(m, m->lines.step[1]);
    if (places) t.step1 = size_param(m, m->lines.step[2]);
    t.load = loaded_text(m, t.compute, arena_printf(m->c->arena, "in[from + %s * %s]", at, t.step_in));
    t.store = arena_printf(m->c->arena, "out0[to0 + %s * %s] = %s;", at, t.step0, stored_text(m, 0, t.compute, "v.value"));
    t.store_place = places ? arena_printf(m->c->arena, " out1[to1 + %s * %s] = v.at;", at, t.step1) : "";
    return t;
}

/* A thread a line, for lines that lie side by side. */
static void put_scan_columns(CallMaker *m, bool is_float, bool places) {
    line_out(m, "    const long line = blockIdx.x * 128l + threadIdx.x;");
    line_out(m, "    if (line >= %s) return;", size_param(m, m->lines.count));
    put_line_start(m);
    const char *length = size_param(m, m->lines.length);
    ScanTexts t = scan_texts(m, is_float, places, "i");
    line_out(m, "    %s_value total;", m->name);
    line_out(m, "    for (long i = 0; i < %s; i++) {", length);
    line_out(m, "        %s_value v; v.value = %s;%s", m->name, t.load, places ? " v.at = i;" : "");
    line_out(m, "        if (i) v = %s_join(total, v);\n        total = v;\n        %s%s\n    }", m->name, t.store, t.store_place);
}

/* `threads` threads a line, four neighbours each; a warp's totals are joined by shuffles, those of warps in shared memory. */
static void put_scan_rows(CallMaker *m, bool is_float, bool places, int threads, int lines_a_block) {
    const char *n = m->name, *count = size_param(m, m->lines.count);
    int warps = threads / 32;
    line_out(m, "    const int lane = threadIdx.x %% 32, place = threadIdx.x %% %d;", threads);
    line_out(m, "    const long wanted = blockIdx.x * %dl + threadIdx.x / %d, line = wanted < %s ? wanted : %s - 1;", lines_a_block, threads, count, count);
    put_line_start(m);
    const char *length = size_param(m, m->lines.length);
    ScanTexts t = scan_texts(m, is_float, places, "i");
    if (warps > 1) line_out(m, "    __shared__ %s_value totals[%d];", n, warps);
    line_out(m, "    %s_value carry; bool has_carry = false;", n);
    line_out(m, "    for (long first = 0; first < %s; first += %d) {", length, 4 * threads);
    line_out(m, "        %s_value part[4]; int filled = 0;", n);
    line_out(m, "        #pragma unroll\n        for (int k = 0; k < 4; k++) {");
    line_out(m, "            const long i = first + 4l * place + k;\n            if (i >= %s) continue;", length);
    line_out(m, "            %s_value v; v.value = %s;%s", n, t.load, places ? " v.at = i;" : "");
    line_out(m, "            part[k] = k ? %s_join(part[k ? k - 1 : 0], v) : v;\n            filled = k + 1;\n        }", n);
    /* the totals of the threads before this one; threads behind the end have none and are nobody's predecessors */
    line_out(m, "        %s_value sum = part[filled ? filled - 1 : 0];", n);
    line_out(m, "        #pragma unroll\n        for (int o = 1; o < 32; o *= 2) { const %s_value u = %s_up(sum, o); if (lane >= o && filled) sum = %s_join(u, sum); }", n, n, n);
    line_out(m, "        %s_value before = %s_up(sum, 1); bool has_before = lane > 0;", n, n);
    if (warps > 1) {
        line_out(m, "        __syncthreads();\n        if (lane == 31) totals[place / 32] = sum;\n        __syncthreads();");
        line_out(m, "        %s_value ahead; bool has_ahead = false;", n);
        line_out(m, "        for (int w = 0; w < place / 32; w++) { ahead = has_ahead ? %s_join(ahead, totals[w]) : totals[w]; has_ahead = true; }", n);
        line_out(m, "        if (has_ahead) { before = has_before ? %s_join(ahead, before) : ahead; has_before = true; }", n);
    }
    line_out(m, "        if (has_carry) { before = has_before ? %s_join(carry, before) : carry; has_before = true; }", n);
    line_out(m, "        #pragma unroll\n        for (int k = 0; k < 4; k++) {");
    line_out(m, "            const long i = first + 4l * place + k;");
    line_out(m, "            if (i >= %s) continue;\n            const %s_value v = has_before ? %s_join(before, part[k]) : part[k];", length, n, n);
    line_out(m, "            if (wanted < %s) { %s%s }\n        }", count, t.store, t.store_place);
    /* the chunk's total: whole chunks alone are followed by another */
    if (warps > 1) line_out(m, "        for (int w = 0; w < %d; w++) { carry = has_carry ? %s_join(carry, totals[w]) : totals[w]; has_carry = true; }", warps, n);
    else {
        line_out(m, "        %s_value all; all.value = __shfl_sync(0xffffffffu, sum.value, 31);%s", n, places ? " all.at = __shfl_sync(0xffffffffu, sum.at, 31);" : "");
        line_out(m, "        carry = has_carry ? %s_join(carry, all) : all; has_carry = true;", n);
    }
    line_out(m, "    }");
}

static bool lines_lie_together(const CallMaker *m) {
    int64_t step = dim_hint(m->lines.step[0]), least = INT64_MAX;
    for (int i = 0; i < m->lines.others; i++)
        if (dim_hint(m->lines.sizes[i]) > 1 && dim_hint(m->lines.strides[0][i]) < least) least = dim_hint(m->lines.strides[0][i]);
    return least < step && dim_hint(m->lines.count) >= 1024;
}

static void set_launch(CallMaker *m, Kernel *kernel, Dim lines_a_block, int threads, const char *schedule) {
    SymTable *syms = m->c->syms;
    kernel->grid[0] = dim_floordiv(syms, dim_add(syms, m->lines.count, lines_a_block - 1), lines_a_block);
    kernel->grid[1] = kernel->grid[2] = 1;
    kernel->block[0] = threads;
    kernel->block[1] = kernel->block[2] = 1;
    kernel->schedule = schedule;
}

/* Writes the body into a text of its own, then what stands before it. */
static void finish_text(CallMaker *m, Text *head, int threads) {
    const char *body = text_in(&m->text, m->c->arena);
    text_free(&m->text);
    m->text = *head;
    put_signature(m, threads, body);
}

static bool make_scan(CallMaker *m, Kernel *kernel) {
    DType out = m->loop->out_metas[0].dtype;
    bool is_float = dtype_is_float(out), places = m->loop->nouts > 1, columns = lines_lie_together(m);
    put_join(m, is_float, places);
    Text head = m->text;
    m->text = (Text){0};
    if (columns) {
        put_scan_columns(m, is_float, places);
        set_launch(m, kernel, 128, 128, "a thread a line");
        finish_text(m, &head, 128);
        return true;
    }
    int64_t length = dim_hint(m->lines.length);
    int threads = length <= 128 ? 32 : length <= 4096 ? 256 : 1024, lines = threads == 32 ? 4 : 1;
    put_scan_rows(m, is_float, places, threads, lines);
    set_launch(m, kernel, lines, threads * lines, threads == 32 ? "a warp a line" : "a block a line");
    finish_text(m, &head, threads * lines);
    return true;
}

/* ---- sorting ---- */
enum { LONGEST_SORT = 8192 };

static bool is_descending(const Loop *loop) {
    const Arg *descending = op_arg(loop->op, loop->args, "descending"), *largest = op_arg(loop->op, loop->args, "largest");
    return arg_truth(descending, false) || (largest->tag != ARG_NONE && arg_truth(largest, true));
}

/* Does (a, i) come before (b, j)? A NaN is larger than everything, and equals keep their order. */
static void put_order(CallMaker *m, const char *type, bool is_float, bool descending) {
    const char *sign = descending ? ">" : "<";
    line_out(m, "static __device__ __forceinline__ bool %s_first(%s a, int i, %s b, int j) {", m->name, type, type);
    line_out(m, "    if (i < 0 || j < 0) return i >= 0 && j < 0; // behind the end");
    if (is_float) line_out(m, "    const bool x = a != a, y = b != b;\n    if (x || y) return x == y ? i < j : %s;", descending ? "x" : "y");
    line_out(m, "    return a %s b || (a == b && i < j);\n}", sign);
}

static void put_sort(CallMaker *m, const char *type, DType compute, int width, int threads) {
    const char *length = size_param(m, m->lines.length), *kept = size_param(m, m->loop->out_metas[0].rank ? m->loop->out_metas[0].sizes[m->lines.dim] : 1);
    line_out(m, "    extern __shared__ __align__(16) unsigned char shared[];");
    line_out(m, "    %s *value = (%s *)shared;\n    int *place = (int *)(value + %d);", type, type, width);
    line_out(m, "    const long line = blockIdx.x;");
    put_line_start(m);
    const char *step_in = size_param(m, m->lines.step[0]), *step0 = size_param(m, m->lines.step[1]), *step1 = size_param(m, m->lines.step[2]);
    line_out(m, "    for (int i = threadIdx.x; i < %d; i += %d) {", width, threads);
    line_out(m, "        place[i] = i < %s ? i : -1;\n        value[i] = i < %s ? %s : 0;\n    }", length, length, loaded_text(m, compute, arena_printf(m->c->arena, "in[from + i * %s]", step_in)));
    line_out(m, "    for (int size = 2; size <= %d; size *= 2)\n        for (int half = size / 2; half > 0; half /= 2) {\n            __syncthreads();", width);
    line_out(m, "            for (int k = threadIdx.x; k < %d; k += %d) {", width / 2, threads);
    line_out(m, "                const int i = k / half * 2 * half + k %% half, j = i + half;");
    line_out(m, "                const %s a = value[i], b = value[j];\n                const int p = place[i], q = place[j];", type);
    line_out(m, "                if ((i & size) == 0 ? %s_first(b, q, a, p) : %s_first(a, p, b, q)) { value[i] = b, value[j] = a, place[i] = q, place[j] = p; }", m->name, m->name);
    line_out(m, "            }\n        }\n    __syncthreads();");
    line_out(m, "    for (int i = threadIdx.x; i < %s; i += %d) { out0[to0 + i * %s] = %s; out1[to1 + i * %s] = place[i]; }", kept, threads, step0, stored_text(m, 0, compute, "value[i]"), step1);
}

static bool make_sort(CallMaker *m, Kernel *kernel) {
    DType compute = dtype_info[input_meta(m->loop)->dtype].compute;
    bool is_float = compute == DTYPE_F32 || compute == DTYPE_F64;
    if (compute == DTYPE_BOOL) compute = DTYPE_I64;
    const char *type = scalar_type_name(TARGET_CUDA, compute);
    if (m->loop->nouts != 2 || !dim_is_int(m->lines.length) || m->lines.length > LONGEST_SORT || m->lines.length < 1) return false;
    int width = 2;
    while (width < m->lines.length) width *= 2;
    int threads = width / 2 < 32 ? 32 : width / 2 > 1024 ? 1024 : width / 2;
    put_order(m, type, is_float, is_descending(m->loop));
    Text head = m->text;
    m->text = (Text){0};
    put_sort(m, type, compute, width, threads);
    set_launch(m, kernel, 1, threads, "a block a line, a bitonic network in shared memory");
    kernel->shared_bytes = width * (dtype_size(compute) + 4);
    finish_text(m, &head, threads);
    return true;
}

/* ---- searching ---- */
/* Where a value's line of the sorted tensor begins (`line`), where it stands itself (`from`), and its result (`to`). */
static void put_search_start(CallMaker *m, const Meta *sorted, const Meta *values, const Meta *out) {
    line_out(m, "    long rest = blockIdx.x * 256l + threadIdx.x;");
    line_out(m, "    if (rest >= %s) return;", size_param(m, m->lines.count));
    line_out(m, "    long line = %s, from = %s, to = 0;", size_param(m, sorted->offset), size_param(m, values->offset));
    for (int i = values->rank - 1; i >= 0; i--) {
        const char *size = size_param(m, values->sizes[i]);
        line_out(m, "    { const long at = rest %% %s; rest /= %s; from += at * %s; to += at * %s;", size, size, size_param(m, values->strides[i]), size_param(m, out->strides[i]));
        if (sorted->rank > 1 && i < values->rank - 1) line_out(m, "      line += at * %s;", size_param(m, sorted->strides[i]));
        line_out(m, "    }");
    }
}

static void put_bisection(CallMaker *m, const Meta *sorted, DType compute, bool right) {
    const char *type = scalar_type_name(TARGET_CUDA, compute), *step = size_param(m, sorted->strides[sorted->rank - 1]);
    Text middle = {0};
    scalar_cast_print(&middle, TARGET_CUDA, dtype_info[sorted->dtype].compute, compute, loaded_text(m, dtype_info[sorted->dtype].compute, arena_printf(m->c->arena, "in[line + middle * %s]", step)));
    line_out(m, "    long low = 0, high = %s;", size_param(m, sorted->sizes[sorted->rank - 1]));
    line_out(m, "    while (low < high) {\n        const long middle = low + (high - low) / 2;\n        const %s x = %s;", type, text_cstr(&middle));
    text_free(&middle);
    /* a NaN is larger than everything */
    bool is_float = dtype_is_float(compute);
    const char *ahead = right ? is_float ? "!(value < x || (x != x && value == value))" : "!(value < x)" : is_float ? "x < value || (value != value && x == x)" : "x < value";
    line_out(m, "        if (%s) low = middle + 1; else high = middle;\n    }", ahead);
}

static bool make_search(CallMaker *m, Kernel *kernel) {
    const Loop *loop = m->loop;
    const Meta *sorted = loop->args[0].tensor.meta, *values, *out = &loop->out_metas[0];
    if (loop->args[1].tag != ARG_TENSOR || sorted->rank == 0) return false;
    values = loop->args[1].tensor.meta;
    DType compute = dtype_info[dtype_promote(sorted->dtype, values->dtype)].compute;
    m->lines.count = 1;
    for (int i = 0; i < values->rank; i++) m->lines.count = dim_mul(m->c->syms, m->lines.count, values->sizes[i]);
    put_search_start(m, sorted, values, out);
    Text load = {0}, cast = {0};
    scalar_load_print(&load, TARGET_CUDA, values->dtype, "searched[from]");
    scalar_cast_print(&cast, TARGET_CUDA, dtype_info[values->dtype].compute, compute, text_cstr(&load));
    line_out(m, "    const %s value = %s;", scalar_type_name(TARGET_CUDA, compute), text_cstr(&cast));
    text_free(&load), text_free(&cast);
    put_bisection(m, sorted, compute, arg_truth(op_arg(loop->op, loop->args, "right"), false));
    line_out(m, "    out0[to] = low;");
    Text head = {0};
    set_launch(m, kernel, 256, 256, "a thread a value, by bisection");
    finish_text(m, &head, 256);
    return true;
}

/* ---- the kernel ---- */
static uint64_t hash_of(const char *text, const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037);
    size_t length = strlen(name);
    for (; *text; text++) {
        if (strncmp(text, name, length) == 0) text += length - 1;
        else hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    }
    return hash;
}

static bool write_call(CallMaker *m, Kernel *kernel) {
    const Loop *loop = m->loop;
    if (loop->op->family == FAMILY_INDEX && strcmp(loop->op->shared, "searchsorted") == 0) return make_search(m, kernel);
    bool sorts = loop->op->family == FAMILY_INDEX && (strcmp(loop->op->shared, "sort") == 0 || strcmp(loop->op->shared, "topk") == 0);
    if ((loop->op->family != FAMILY_SCAN && !sorts) || loop->nargs < 1 || loop->args[0].tag != ARG_TENSOR || !find_lines(m)) return false;
    return sorts ? make_sort(m, kernel) : make_scan(m, kernel);
}

bool generate_cuda_call(Compile *c, const Lowered *l, const Group *g, const Loop *loop, Made *made) {
    CallMaker m = {.c = c, .l = l, .loop = loop};
    Text name = {0};
    text_identifier(&name, g->name);
    m.name = text_in(&name, c->arena);
    text_free(&name);
    Kernel *kernel = ARENA_NEW(c->arena, Kernel);
    bool good = write_call(&m, kernel);
    if (good) {
        kernel->entry = m.name;
        kernel->language = KERNEL_CUDA;
        kernel->source = text_in(&m.text, c->arena);
        int inputs = tensor_count(loop);
        kernel->pointer_count = inputs + loop->nouts;
        kernel->size_count = m.sizes.count;
        kernel->vector_bytes = 1;
        kernel->nodes = g->nodes;
        kernel->node_count = g->node_count;
        kernel->body_hash = hash_of(kernel->source, kernel->entry) ^ (uint64_t)kernel->block[0];
        int *buffers = ARENA_ARRAY(c->arena, int, kernel->pointer_count + 1);
        for (int i = 0; i < inputs; i++) buffers[i] = (int)(intptr_t)loop->args[i].tensor.owner - 1;
        for (int i = 0; i < loop->nouts; i++) buffers[inputs + i] = loop->outs[i];
        *made = (Made){kernel, buffers, m.sizes.at};
    }
    text_free(&m.text);
    return good;
}
